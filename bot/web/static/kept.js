// Texts begun and not sent, kept in this browser for each case and person, for a day. What was sent is kept until it can no longer
// be undone: an undo brings the moderator's own words back too.

import { stored } from "./stored.js";
import { secondsSince } from "./words.js";

const PLACE = "rejoinder-text:";
const STAYS_MS = 24 * 3600 * 1000;
const GRACE_MS = 60 * 1000; // an undo at the last moment is answered after it
const memory = new Map(); // where the browser keeps nothing, the page does for as long as it is open

const nameOf = (person, key) => `${PLACE}${person}:${key}`;

/** Return {text, at} of the text this person began for a case, or null; `until` is there where it was put away. */
export function keptText(person, key) {
  const name = nameOf(person, key);
  const kept = memory.get(name) ?? stored(name);
  return isFresh(kept) ? kept : null;
}

/** Keep a text; an empty one takes away what was kept. With `until`, in milliseconds, it is forgotten then. */
export function keepText(person, key, text, until) {
  const name = nameOf(person, key);
  const kept = { text, at: Date.now(), until };
  memory.set(name, text ? kept : null);
  try {
    if (text) localStorage.setItem(name, JSON.stringify(kept));
    else localStorage.removeItem(name);
    memory.delete(name);
  } catch { /* storage full or switched off */ }
}

/** Put a text away that was sent: forget it a minute after the time to undo that has ended, at once where there is none. */
export function putAway(person, key, releaseAt) {
  const kept = keptText(person, key);
  if (kept) keepText(person, key, releaseAt ? kept.text : "", Date.now() + GRACE_MS - 1000 * secondsSince(releaseAt));
}

/** Keep a text on that was put away: its case waits again. */
export function bringBack(person, key) {
  const kept = keptText(person, key);
  if (kept?.until) keepText(person, key, kept.text);
}

/** Tell whether a text is kept nowhere but on this page. */
export const livesOnPage = () => [...memory.values()].some((kept) => kept && !kept.until);

/** Delete what was kept for its time, whoever wrote it. */
export function sweepKept() {
  try {
    for (const name of Object.keys(localStorage).filter((each) => each.startsWith(PLACE))) {
      if (!isFresh(stored(name))) localStorage.removeItem(name);
    }
  } catch { /* storage switched off */ }
}

const isFresh = (kept) => typeof kept?.text === "string" && Date.now() < (kept.until ?? kept.at + STAYS_MS);
