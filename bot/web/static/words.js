// How the desk says things: ages, confidence, states, checks.

import { byId } from "./dom.js";

const UNITS = [["d", 86400], ["h", 3600], ["min", 60]];
let ahead = 0; // milliseconds the server's clock is ahead of ours

/** Learn the server's time, so that countdowns are right on a machine whose clock is not. */
export function setClock(serverNow) {
  if (serverNow) ahead = Date.parse(serverNow) - Date.now();
}

/** Return seconds since a moment; negative when it is still to come. */
export const secondsSince = (moment) => (Date.now() + ahead - Date.parse(moment)) / 1000;

/** Say how long ago a moment was. */
export function age(moment) {
  const seconds = secondsSince(moment);
  const unit = UNITS.find(([, size]) => seconds >= size);
  return unit ? `${Math.floor(seconds / unit[1])} ${unit[0]} ago` : "just now";
}

/** Say a share from 0 to 1 in percent. */
export const percent = (share) => `${Math.round(100 * share)} %`;

/** Say how sure a score from 0 to 1 is. */
export function sureness(score) {
  if (score >= 0.9) return "very sure";
  if (score >= 0.7) return "fairly sure";
  if (score >= 0.5) return "rather likely";
  return "unsure";
}

/** Say how hateful a post was judged. */
export function hatefulness(score) {
  if (score >= 0.8) return "clearly hateful";
  if (score >= 0.5) return "likely hateful";
  if (score >= 0.2) return "perhaps hateful";
  return "hardly hateful";
}

const wordsIn = (list, value) => [...byId(list).options].find((option) => option.value === value)?.text ?? value;

export const groupWord = (group) => wordsIn("group-filter", group);
export const stateWords = (state) => wordsIn("states", state);

/** The state of a case that waits for a moderator, of one whose draft is being written, of one that leads must see. */
export const { waiting: WAITING, drafting: DRAFTING, alarming: ALARMING } = byId("states").dataset;

const reasonButton = (code) => byId("reject").querySelector(`[data-choice="${CSS.escape(code)}"]`);

/** Say a stored reason, `code` or `code: words`, as people read it. */
export function reasonWords(stored) {
  const [, code, rest] = /^([a-z_]+)(?:: (.*))?$/s.exec(stored ?? "") ?? [];
  const label = code && reasonButton(code)?.lastChild.textContent.trim();
  if (!label) return stored ?? "";
  if (code === "other") return rest ?? label;
  return rest ? `${label}: ${rest}` : label;
}

/** Return who holds the case now, or null; a claim that has run out holds nothing. */
export const holder = (item) =>
  item.claimed_by && !(item.claimed_until && secondsSince(item.claimed_until) > 0) ? item.claimed_by : null;

/** Say a number shortly. */
export const figure = (value) => (Number.isInteger(value) ? String(value) : value.toFixed(2));

/** Say where a case stands, and who decided it. */
export const standing = (item) => (item.decided_by ? `${item.state} by ${item.decided_by}` : stateWords(item.state));
