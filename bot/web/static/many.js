// Work on many: what is selected in the list, and one decision on several cases, each of which is decided by itself.

import { decideMany } from "./api.js";
import { askForReason } from "./choices.js";
import { byId } from "./dom.js";
import { here } from "./here.js";
import { keepText } from "./kept.js";
import { t, tn } from "./language.js";
import { ask, placeOfWords } from "./menus.js";
import { announce, dropUndoable, toast, toastUndoable } from "./toasts.js";
import { explain } from "./trouble.js";
import { groupWords } from "./words.js";

const DONE = { approve: t("Approved"), reject: t("Rejected") };

/** Count cases in words. */
export const countWords = (number) => tn("{n} case", "{n} cases", number);

/** The selected cases of the list; what is no longer listed is no longer selected. */
export class Selection {
  constructor(queue) {
    this.queue = queue;
    this.keys = new Set();
    byId("cases").addEventListener("change", (event) => {
      if (event.target.matches(".pick")) this.put(event.target.closest("li").querySelector(".row").dataset.key, event.target.checked);
    });
  }

  /** The selected cases as the list shows them now. */
  get cases() { return this.queue.cases.filter((item) => this.keys.has(item.key)); }

  put(key, isSelected) {
    if (!key || isSelected && !this.queue.waiting) return;
    if (isSelected) this.keys.add(key);
    else this.keys.delete(key);
    this.show();
    announce(tn("{n} case selected.", "{n} cases selected.", this.keys.size));
  }

  toggle(key) { this.put(key, !this.keys.has(key)); }

  clear() {
    this.keys.clear();
    this.show();
  }

  /** Show on every row whether it is selected, and above the list how many are. */
  show() {
    const listed = new Set(this.queue.cases.map((item) => item.key));
    for (const key of this.keys) if (!listed.has(key)) this.keys.delete(key);
    for (const row of byId("cases").querySelectorAll(".row")) {
      const box = row.parentElement.querySelector(".pick");
      box.hidden = !this.queue.waiting;
      box.checked = this.keys.has(row.dataset.key);
    }
    byId("selection").hidden = !this.keys.size;
    byId("selection-count").textContent = tn("{n} selected", "{n} selected", this.keys.size);
  }

  /** Ask for one reason and decide on what is selected, exactly as the list shows it when it is asked. */
  async decide(action) {
    const cases = this.cases;
    if (!cases.length) return null;
    const rest = action === "assign" ? await askForAssignee(cases) : await askWhyRejected(cases, cases.map(lineOf));
    if (!rest) return null;
    const done = await sendMany(action, cases.map(({ key, version }) => ({ key, version })), rest);
    this.clear();
    return done;
  }
}

/** Ask for one reason to reject cases; `list` says which, where they are not on the page. */
export async function askWhyRejected(cases, list) {
  const title = t("Why do you reject {cases}?", { cases: countWords(cases.length) });
  const reason = await askForReason({ title, list, place: placeOf("reject", cases) });
  return reason && { reason };
}

async function askForAssignee(cases) {
  const title = t("Who should take care of {cases}?", { cases: countWords(cases.length) });
  const answer = await ask("assign", { title, list: cases.map(lineOf), place: placeOf("assign", cases) });
  return answer && { assignee: answer.choice, reason: answer.words || undefined };
}

const placeOf = (action, cases) => placeOfWords(action, ...cases.map(({ key }) => key));
const lineOf = (item) => [groupWords(item.groups), item.post_id, item.draft].filter(Boolean).join(" · ");

/** Decide on cases as they were seen; return the results of those that were decided and tell of the others. */
export async function sendMany(action, cases, rest) {
  const { results } = await decideMany({ action, cases, ...rest });
  keepText(here.me.name, placeOf(action, cases), "");
  const done = results.filter((result) => result.done);
  const left = results.filter((result) => !result.done);
  if (done.length && DONE[action]) {
    const until = done.map((result) => result.release_at).sort()[0];
    toastUndoable(`${DONE[action]}: ${countWords(done.length)}`, { key: `many:${done[0].key}:${done[0].version}`, until, cases: done }, undoMany);
  }
  if (action === "assign" && done.length) toast(t("Assigned to {who}: {cases}.", { who: rest.assignee, cases: countWords(done.length) }), "good");
  if (left.length) toast(t("Not decided: {cases}. {why}", { cases: countWords(left.length), why: left[0].message }), "bad");
  return { done, left };
}

/** Take one decision on many back; where the server is away it can be asked for again. */
async function undoMany(entry) {
  const cases = entry.cases.map(({ key, version }) => ({ key, version }));
  let results;
  try {
    ({ results } = await decideMany({ action: "undo", cases }));
  } catch (error) {
    return explain(error);
  }
  dropUndoable(entry.key);
  const left = results.filter((result) => !result.done);
  if (left.length < results.length) toast(t("Taken back: {cases}.", { cases: countWords(results.length - left.length) }), "good");
  if (left.length) toast(t("Not taken back: {cases}. {why}", { cases: countWords(left.length), why: left[0].message }), "bad");
}
