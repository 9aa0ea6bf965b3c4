// What is known around a case: its author's other cases, the same text elsewhere, rules, notes, and who looks at it too.

import { addNote, fetchRelated } from "./api.js";
import { byId, make, say, slot } from "./dom.js";
import { keepText, keptText } from "./kept.js";
import { t } from "./language.js";
import { groupWords, reasonWords, smallPrint, standing, WAITING } from "./words.js";

const noteKey = (item) => `${item.key}#note`;

/** Fill in what the server knows around the case, once it has told; whoever decides needs not wait for it. */
export async function showAround(root, item) {
  const around = await fetchRelated(item.key);
  if (!root.isConnected) return;
  const waiting = around.same_text.filter((other) => other.state === WAITING).length;
  const ended = around.same_text.length - waiting;
  const counts = [waiting && t("{n} waiting", { n: waiting }), ended && t("{n} ended or being worked on", { n: ended })].filter(Boolean).join(", ");
  say(slot(root, "assignee"), around.assignee && t("Assigned to {who}.", { who: around.assignee }));
  say(slot(root, "same-text"), counts && t("Further posts with the same text: {n} ({counts}).", { n: around.same_text.length, counts }));
  slot(root, "same-open").hidden = !waiting || item.state !== WAITING;
  say(slot(root, "author-note"), around.author.length ? "" : t("None is known."));
  slot(root, "author").replaceChildren(...around.author.map(caseLine));
  slot(root, "rules-part").hidden = !around.rules;
  slot(root, "rules").textContent = around.rules;
}

function caseLine(other) {
  const why = other.decided_why ? `: ${reasonWords(other.decided_why)}` : "";
  return make("li", {},
    make("button", { type: "button", class: "link", "data-open": other.key, text: groupWords(other.groups) }),
    ...smallPrint(` · ${standing(other)}${why}, `, other.received_at));
}

/** Show the notes of a case, and the one that this person has begun. */
export function showNotes(root, item, me) {
  fillNotes(root, item);
  const area = slot(root, "note-form").querySelector("textarea");
  area.value = keptText(me.name, noteKey(item))?.text ?? "";
  area.addEventListener("input", () => keepText(me.name, noteKey(item), area.value));
  slot(root, "note-form").addEventListener("submit", (event) => event.preventDefault());
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") byId("case").focus({ preventScroll: true });
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    slot(root, "note-form").querySelector("button").click();
  });
}

/** Bring the list of notes up to date, and leave the field alone. */
export function fillNotes(root, item) {
  slot(root, "notes").replaceChildren(...item.notes.map((note) => make("li", {},
    make("p", { class: `note-text ${note.kind}`, dir: "auto", text: note.text }),
    ...smallPrint(`${note.kind === "appeal" ? t("appeal by {who}", note) : note.who}, `, note.at))));
}

/** Send the note in the field; return its words and the case as it is then, or null where the field is empty. */
export async function sendNote(root, item) {
  const area = slot(root, "note-form").querySelector("textarea");
  const text = area.value.trim();
  if (text) return { text, after: await addNote(item.key, text) };
  area.focus();
  return null;
}

/** Forget a note that was sent, here and in the field of `root` (null: another case is open), but nothing written since. */
export function forgetNote(root, item, me, text) {
  const begunSince = (value) => value.trimStart().startsWith(text) ? value.trimStart().slice(text.length).trimStart() : value;
  const kept = keptText(me.name, noteKey(item));
  if (kept) keepText(me.name, noteKey(item), begunSince(kept.text));
  const area = root && slot(root, "note-form").querySelector("textarea");
  if (area) area.value = begunSince(area.value);
}

/** Remember whether the field for a note has the focus; the function that comes back gives it to the field of a new page. */
export function heldNote(root) {
  const area = root && slot(root, "note-form").querySelector("textarea");
  if (!area || document.activeElement !== area) return () => {};
  const { selectionStart, selectionEnd } = area;
  return (next) => {
    const field = slot(next, "note-form").querySelector("textarea");
    field.focus({ preventScroll: true });
    field.setSelectionRange(selectionStart, selectionEnd);
  };
}

/** Say who else looks at the case. */
export function showViewing(root, names, me) {
  const others = names.filter((name) => name !== me.name);
  const [one, other] = others;
  const words = others.length > 2
    ? t("{n} others are looking at this case too.", { n: others.length })
    : other ? t("{one} and {other} are looking at this case too.", { one, other }) : one && t("{one} is looking at this case too.", { one });
  say(slot(root, "viewing"), words);
}
