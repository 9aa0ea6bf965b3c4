// Find a statement in the knowledge base, and put it first among the open case's evidence and into the text being written.

import { addEvidence, findEvidence, Refusal } from "./api.js";
import { evidenceLine } from "./case.js";
import { byId, make, say, slot } from "./dom.js";
import { here, isOpen } from "./here.js";
import { t, tn } from "./language.js";
import { refreshEvidence } from "./opening.js";
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
  say(slot(dialog(), "told"), t("Searching; this takes some seconds…"));
  try {
    const { evidence } = await findEvidence(words, byId("evidence-group").value || null, signal);
    say(slot(dialog(), "told"), evidence.length ? tn("{n} statement found.", "{n} statements found.", evidence.length) : t("Nothing fits. Try other words, or every group."));
    slot(dialog(), "found").replaceChildren(...evidence.map((piece) => line(item, piece)));
  } catch (error) {
    if (error.name !== "AbortError") say(slot(dialog(), "told"), error instanceof Refusal ? error.message : t("The server can't be reached; what stands here may be old."));
  }
}

function line(item, piece) {
  const isKnown = item.grounding?.evidence.some((known) => known.id === piece.id);
  const button = make("button", { type: "button", text: t("Use this one") });
  button.addEventListener("click", () => use(item.key, piece));
  return make("li", {}, ...evidenceLine(piece, piece.marks),
    isKnown ? make("p", { class: "note", text: t("This case has it already") }) : null, button);
}

async function use(key, piece) {
  try {
    const after = await addEvidence(key, piece.id);
    dialog().close();
    if (!isOpen(key)) return;
    const { editor } = here.open;
    if (editor.open) editor.insert(piece.text);
    refreshEvidence(after);
    toast(editor.open ? t("It is in your text, and stands first among the evidence.") : t("It stands first among the evidence: ask for another draft (d), or write with it (e)."), "good");
  } catch (error) {
    if (error instanceof Refusal) say(slot(dialog(), "told"), error.message);
    else explain(error);
  }
}
