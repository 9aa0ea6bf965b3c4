// Count the posts this person has looked at today. The count stays in this browser: it is never sent.

import { byId } from "./dom.js";
import { tn } from "./language.js";

const PLACE = "rejoinder-tally";
const SEEN = "rejoinder-seen"; // outlives a reload, not the tab
const HOUR_MS = 3_600_000;
const seen = new Set(readSeen());
const today = () => new Date().toDateString();

function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(PLACE));
    return kept?.day === today() ? kept.count : 0;
  } catch {
    return 0; // storage switched off, or not ours: the count starts again
  }
}

function readSeen() {
  try {
    return JSON.parse(sessionStorage.getItem(SEEN)) ?? [];
  } catch {
    return [];
  }
}

/** Show today's count. */
export function showTally() {
  const count = read();
  const element = byId("tally");
  element.hidden = count === 0;
  element.textContent = tn("You have looked at {n} post today", "You have looked at {n} posts today", count);
}

/** Return how many posts were looked at within the last hour. */
export const looksInHour = () => readTimes().length;

function readTimes() {
  try {
    return (JSON.parse(localStorage.getItem(PLACE))?.times ?? []).filter((time) => Date.now() - time < HOUR_MS);
  } catch {
    return [];
  }
}

/** Tell whether this post was looked at since the page was opened. */
export const hasLooked = (key) => seen.has(key);

/** Count a post, once as long as the page is open. */
export function countLook(key) {
  if (seen.has(key)) return;
  seen.add(key);
  try {
    sessionStorage.setItem(SEEN, JSON.stringify([...seen]));
    localStorage.setItem(PLACE, JSON.stringify({ day: today(), count: read() + 1, times: [...readTimes(), Date.now()] }));
  } catch {
    return; // storage switched off: there is no tally then
  }
  showTally();
}
