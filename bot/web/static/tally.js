// Count the posts this person has looked at today. It stays in this browser: nothing of it is ever sent.

import { byId } from "./dom.js";

const PLACE = "rejoinder-tally";
const seen = new Set();
const today = () => new Date().toDateString();

function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(PLACE));
    return kept?.day === today() ? kept.count : 0;
  } catch {
    return 0; // storage switched off, or not ours: the count starts again
  }
}

/** Show today's count. */
export function showTally() {
  const count = read();
  const element = byId("tally");
  element.hidden = count === 0;
  element.textContent = count === 1 ? "You have looked at 1 post today" : `You have looked at ${count} posts today`;
}

/** Count a post, once as long as the page is open. */
export function countLook(key) {
  if (seen.has(key)) return;
  seen.add(key);
  try {
    localStorage.setItem(PLACE, JSON.stringify({ day: today(), count: read() + 1 }));
  } catch {
    return; // storage switched off: there is no tally then
  }
  showTally();
}
