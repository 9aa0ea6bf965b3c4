// How the desk says things: ages, confidence, states, checks.

import { byId, make } from "./dom.js";
import { t, tn } from "./language.js";

const AGES = [[86400, (n) => t("{n} d ago", { n })], [3600, (n) => t("{n} h ago", { n })], [60, (n) => t("{n} min ago", { n })]];
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
  const [size, words] = AGES.find(([least]) => seconds >= least) ?? [1, () => t("just now")];
  return words(Math.floor(seconds / size));
}

/** Return small print: words, and how long ago it was. */
export const smallPrint = (text, moment) => [
  make("span", { class: "history-who", text }), make("time", { datetime: moment, "data-age": true, text: age(moment) }),
];

/** Say a share from 0 to 1 in percent. */
export const percent = (share) => t("{n} %", { n: Math.round(100 * share) });

const grade = (score, steps) => steps.find(([least]) => score >= least)[1];

/** Say how sure a score from 0 to 1 is. */
export const sureness = (score) => grade(score, [[0.9, t("very sure")], [0.7, t("fairly sure")], [0.5, t("rather likely")], [0, t("unsure")]]);

/** Say how hateful a post was judged. */
export const hatefulness = (score) =>
  grade(score, [[0.8, t("clearly hateful")], [0.5, t("likely hateful")], [0.2, t("perhaps hateful")], [0, t("hardly hateful")]]);

const wordsIn = (list, value) => [...byId(list).options].find((option) => option.value === value)?.text ?? value;

export const groupWord = (group) => wordsIn("group-filter", group);
export const groupWords = (groups, none = t("no group found")) => groups.map((each) => groupWord(each.group)).join(", ") || none;
export const stateWords = (state) => wordsIn("states", state);
export const intentWord = (intent) => wordsIn("intents", intent);
export const postCount = (n) => tn("{n} post", "{n} posts", n);

/** The states of cases that wait for a moderator, for a draft, and for leads. */
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

/** Say where a case stands, and who decided it. */
export const standing = (item) => (item.decided_by
  ? t("{state} by {who}", { state: stateWords(item.state).split(":")[0], who: item.decided_by }) : stateWords(item.state));
