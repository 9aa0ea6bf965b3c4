// Count the posts this person has looked at today. The count stays in this browser: it is never sent.

import { byId } from "./dom.js";
import { here } from "./here.js";
import { tn } from "./language.js";
import { store, stored } from "./stored.js";

const PLACE = "rejoinder-tally";
const SEEN = "rejoinder-seen"; // outlives a reload, not the tab
const HOUR_MS = 3_600_000;
let seen = null;
const own = (place) => `${place}:${here.me.name}`; // others may log in with the same browser
const looked = () => (seen ??= new Set(stored(own(SEEN), "sessionStorage") ?? []));
const today = () => new Date().toDateString();

function read() {
  const kept = stored(own(PLACE));
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

const readTimes = () => (stored(own(PLACE))?.times ?? []).filter((time) => Date.now() - time < HOUR_MS);

/** Tell whether this post was looked at since the page was opened. */
export const hasLooked = (key) => looked().has(key);

/** Count a post, once as long as the page is open. */
export function countLook(key) {
  if (hasLooked(key)) return;
  looked().add(key);
  store(own(SEEN), [...looked()], "sessionStorage");
  if (store(own(PLACE), { day: today(), count: read() + 1, times: [...readTimes(), Date.now()] })) showTally();
}
