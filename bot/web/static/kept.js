// Texts begun and not sent, kept in this browser for each case and person, for a day.

import { stored } from "./stored.js";

const PLACE = "rejoinder-text:";
const STAYS_MS = 24 * 3600 * 1000;
const memory = new Map(); // where the browser keeps nothing, the page does for as long as it is open

const nameOf = (person, key) => `${PLACE}${person}:${key}`;

/** Return {text, at} of the text this person began for a case, or null. */
export function keptText(person, key) {
  const name = nameOf(person, key);
  const kept = memory.get(name) ?? stored(name);
  return isFresh(kept) ? kept : null;
}

/** Keep a text; an empty one takes away what was kept. */
export function keepText(person, key, text) {
  const name = nameOf(person, key);
  const kept = { text, at: Date.now() };
  memory.set(name, text ? kept : null);
  try {
    if (text) localStorage.setItem(name, JSON.stringify(kept));
    else localStorage.removeItem(name);
    memory.delete(name);
  } catch { /* storage full or switched off */ }
}

/** Tell whether a text is kept nowhere but on this page. */
export const livesOnPage = () => [...memory.values()].some(Boolean);

/** Delete what was kept for longer than a day, whoever wrote it. */
export function sweepKept() {
  try {
    for (const name of Object.keys(localStorage).filter((each) => each.startsWith(PLACE))) {
      if (!isFresh(stored(name))) localStorage.removeItem(name);
    }
  } catch { /* storage switched off */ }
}

const isFresh = (kept) => typeof kept?.text === "string" && Date.now() - kept.at < STAYS_MS;
