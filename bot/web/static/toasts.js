// Short messages at the edge of the page; one about a decision counts down and can be undone until then.

import { byId, make } from "./dom.js";
import { secondsSince } from "./words.js";

const STAYS_MS = 6000;
let undoable = [];

/** Show a message for some seconds. */
export function toast(text, kind = "info") {
  const element = make("div", { class: `toast ${kind}` }, make("p", { text }));
  byId("toasts").append(element);
  setTimeout(() => element.remove(), STAYS_MS);
}

/** Show a decision with its countdown; `undo(entry)` is called when asked to. */
export function toastUndoable(text, entry, undo) {
  const left = make("span", { class: "countdown", "aria-hidden": true, "data-until": entry.until });
  const button = make("button", { type: "button" }, "Undo ", make("kbd", { text: "u" }), " ", left);
  const element = make("div", { class: "toast undo" }, make("p", { text }), button);
  const item = { ...entry, element };
  button.addEventListener("click", () => undo(item));
  undoable.push(item);
  byId("toasts").append(element);
}

/** Return the newest decision that can still be undone, or undefined. */
export const lastUndoable = () => undoable.at(-1);

/** Take a decision's message away. */
export function dropUndoable(key) {
  undoable.filter((item) => item.key === key).forEach((item) => item.element.remove());
  undoable = undoable.filter((item) => item.key !== key);
}

/** Take away what can no longer be undone. */
export function sweepToasts() {
  undoable.filter((item) => secondsSince(item.until) >= 0).forEach((item) => dropUndoable(item.key));
}

/** Tell a screen reader something that is seen elsewhere on the page. */
export function announce(text) {
  byId("announce").textContent = text;
}
