// Find a statement in the knowledge base, and put it into the open case: first among its evidence, and into the text being written.

import { addEvidence, findEvidence, Refusal } from "./api.js";
import { evidenceLine } from "./case.js";
import { byId, make, say, slot } from "./dom.js";
import { here, isOpen } from "./here.js";
import { refreshEvidence } from "./opening.js";
import { TEXTS } from "./texts.js";
import { toast } from "./toasts.js";
import { explain } from "./trouble.js";
import { WAITING } from "./words.js";

const dialog = () => byId("find-evidence");

/** Ask for words, and show what answers them, for the case that is open. */
export function openEvidenceSearch() {
  const { item } = here.open;
  if (item.state !== WAITING || !item.actions.includes("edit")) return;
  const words = byId("evidence-words");
  words.value = item.answers || "";
  byId("evidence-group").value = item.triage?.groups[0]?.group ?? "";
  say(slot(dialog(), "told"), "");
  slot(dialog(), "found").replaceChildren();
  const over = new AbortController();
  dialog().onclose = () => over.abort();
  dialog().querySelector("form").onsubmit = (event) => {
    event.preventDefault();
    search(item, words.value.trim(), over.signal);
  };
  dialog().showModal();
  words.select();
}

async function search(item, words, signal) {
  if (!words) return byId("evidence-words").focus();
  say(slot(dialog(), "told"), TEXTS.evidence.searching);
  try {
    const { evidence } = await findEvidence(words, byId("evidence-group").value || null, signal);
    say(slot(dialog(), "told"), evidence.length ? TEXTS.evidence.found(evidence.length) : TEXTS.evidence.none);
    slot(dialog(), "found").replaceChildren(...evidence.map((piece) => line(item, piece)));
  } catch (error) {
    if (error.name !== "AbortError") say(slot(dialog(), "told"), error instanceof Refusal ? error.message : TEXTS.lost);
  }
}

function line(item, piece) {
  const isKnown = item.grounding?.evidence.some((known) => known.id === piece.id);
  const button = make("button", { type: "button", text: TEXTS.evidence.use });
  button.addEventListener("click", () => use(item.key, piece));
  return make("li", {}, ...evidenceLine(piece, piece.marks, false),
    isKnown ? make("p", { class: "note", text: TEXTS.evidence.known }) : null, button);
}

async function use(key, piece) {
  try {
    const after = await addEvidence(key, piece.id);
    dialog().close();
    if (!isOpen(key)) return;
    const { editor } = here.open;
    if (editor.open) editor.insert(piece.text);
    refreshEvidence(after);
    toast(editor.open ? TEXTS.evidence.inserted : TEXTS.evidence.added, "good");
  } catch (error) {
    if (error instanceof Refusal) say(slot(dialog(), "told"), error.message);
    else explain(error);
  }
}
