// Count the posts this person has looked at today. The count stays in this browser: it is never sent.

import { byId } from "./dom.js";
import { tn } from "./language.js";
import { store, stored } from "./stored.js";

const PLACE = "rejoinder-tally";
const SEEN = "rejoinder-seen"; // outlives a reload, not the tab
const HOUR_MS = 3_600_000;
const seen = new Set(stored(SEEN, "sessionStorage") ?? []);
const today = () => new Date().toDateString();

function read() {
  const kept = stored(PLACE);
  return kept?.day === today() ? kept.count : 0;
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

const readTimes = () => (stored(PLACE)?.times ?? []).filter((time) => Date.now() - time < HOUR_MS);

/** Tell whether this post was looked at since the page was opened. */
export const hasLooked = (key) => seen.has(key);

/** Count a post, once as long as the page is open. */
export function countLook(key) {
  if (seen.has(key)) return;
  seen.add(key);
  store(SEEN, [...seen], "sessionStorage");
  if (store(PLACE, { day: today(), count: read() + 1, times: [...readTimes(), Date.now()] })) showTally();
}
