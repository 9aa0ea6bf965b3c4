// Short messages at the edge of the page; one about a decision counts down and can be undone until then.

import { byId, make } from "./dom.js";
import { t } from "./language.js";
import { secondsSince } from "./words.js";

const STAYS_MS = 6000;
const SLOW_MS = 400;
let undoable = [];

/** Show a message for some seconds. */
export function toast(text, kind = "info") {
  const element = make("div", { class: `toast ${kind}` }, make("p", { text }));
  byId("toasts").append(element);
  setTimeout(() => element.remove(), STAYS_MS);
}

/** Show a message for as long as `promise` takes, where that is long enough to be noticed; return what comes of it. */
export async function toastWhile(promise, text) {
  const element = make("div", { class: "toast sending" }, make("p", { text }));
  const slow = setTimeout(() => byId("toasts").append(element), SLOW_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(slow);
    element.remove();
  }
}

/** Show a decision with its countdown, in one bar for all of them; `undo(entry)` is called when asked to. */
export function toastUndoable(text, entry, undo) {
  undoable.push({ ...entry, text, undo });
  showUndoBar();
}

/** Show the newest decision that can be undone, and how many more there are. */
function showUndoBar() {
  byId("toasts").querySelector(".undo")?.remove();
  const item = lastUndoable();
  if (!item) return;
  const left = make("span", { class: "countdown", "aria-hidden": true, "data-until": item.until });
  const button = make("button", { type: "button", "aria-keyshortcuts": "u" }, `${t("Undo")} `, make("kbd", { text: "u" }), " ", left);
  button.addEventListener("click", () => item.undo(item));
  const others = undoable.length - 1;
  const text = others ? t("{words} ({n} more before)", { words: item.text, n: others }) : item.text;
  byId("toasts").append(make("div", { class: "toast undo" }, make("p", { text }), button));
}

/** Return the newest decision that can still be undone, or undefined. */
export const lastUndoable = () => undoable.at(-1);

/** Take a decision's message away. */
export function dropUndoable(key) {
  undoable = undoable.filter((item) => item.key !== key);
  showUndoBar();
}

/** Take away what can no longer be undone. */
export function sweepToasts() {
  undoable.filter((item) => secondsSince(item.until) >= 0).forEach((item) => dropUndoable(item.key));
}

/** Tell a screen reader something that is seen elsewhere on the page. */
export function announce(text) {
  byId("announce").textContent = text;
}
