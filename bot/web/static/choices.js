// The dialogs before a decision; the answer goes to `act(action, rest, item)`, for the case open at the time.

import { fetchChoices } from "./api.js";
import { byId, make, slot } from "./dom.js";
import { t } from "./language.js";
import { ask, placeOfWords } from "./menus.js";
import { put } from "./opening.js";
import { toast } from "./toasts.js";

/** Fill the menu that assigns cases: the page is served before anybody logs in, and names nobody. */
export async function offerModerators() {
  const { moderators } = await fetchChoices();
  byId("assign").querySelector(".choices").replaceChildren(...moderators.map((name, place) => make("button",
    { type: "button", "data-choice": name }, place < 9 ? make("kbd", { text: place + 1 }) : null, ` ${name}`)));
}

/** Approve the draft; where the moderator has begun a text of their own, ask which of the two goes out. */
export async function askToApprove({ item, root, editor }, act) {
  const draft = item.drafts.at(-1).text;
  if (slot(root, "draft").textContent !== draft) {
    put(item);
    return toast(t("This draft is newer than the one you saw. Read it, then approve it."), "bad");
  }
  const own = editor.unsent?.trim();
  if (!own || own === draft) return act("approve", { text: draft }, item);
  byId("which-own").textContent = own;
  byId("which-draft").textContent = draft;
  const answer = await ask("which");
  if (answer?.choice === "own") return act("edit", { text: own }, item);
  return answer ? act("approve", { text: draft }, item) : undefined;
}

/** Ask why the draft is rejected. */
export async function askToReject(item, act) {
  const reason = await askForReason({ place: placeOfWords("reject", item.key) });
  if (reason) act("reject", { reason }, item);
}

/** Ask for a reason to reject, as it is stored; null when nobody gave one. `about` says what is rejected. */
export async function askForReason(about = {}) {
  const answer = await ask("reject", { ...about, needsWords: (choice) => choice === "other" });
  return answer && [answer.choice, answer.words].filter(Boolean).join(": ");
}

/** Ask what the next draft is to do. */
export async function askToRedraft(item, act) {
  const answer = await ask("redraft", { current: item.request.intent, place: placeOfWords("redraft", item.key) });
  if (answer) act("redraft", { intent: answer.choice, hint: answer.words, strategy: answer.way }, item);
}

/** Ask who should take care of the case. */
export async function askToAssign(item, act) {
  const answer = await ask("assign", { place: placeOfWords("assign", item.key) });
  if (answer) act("assign", { assignee: answer.choice, reason: answer.words || undefined }, item);
}

/** Ask for the words of an action; a note that a case is handled may do without. */
export async function askForWords(action, item, act) {
  const answer = await ask(action, { current: "yes", needsWords: () => action !== "handle", place: placeOfWords(action, item.key) });
  if (answer) act(action, { reason: answer.words || undefined }, item);
}
