// What the page says by itself: the warning on top, the connection, ages and countdowns.

import { byId, say } from "./dom.js";
import { t } from "./language.js";
import { age, secondsSince } from "./words.js";

/** Show a warning on top of the page, or take it away. */
export const warn = (text) => say(byId("banner"), text);

/** Show whether changes arrive; `state` is `live` or `away`. */
export function showConnection(state, words) {
  byId("connection").hidden = false;
  byId("connection").dataset.state = state;
  byId("connection-words").textContent = words;
}

export const isLive = () => byId("connection").dataset.state === "live";

/** Bring every age and countdown on the page up to date. */
export function tellTimes() {
  for (const element of document.querySelectorAll("[data-age]")) {
    const words = element.dateTime && age(element.dateTime);
    if (words && element.textContent !== words) element.textContent = words;
  }
  for (const element of document.querySelectorAll("[data-until]")) {
    const left = Math.ceil(-secondsSince(element.dataset.until));
    element.textContent = left > 0 ? t("{n} s", { n: left }) : "";
  }
}
