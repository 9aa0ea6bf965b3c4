// Talk to the desk's own server, and turn its answers and silences into two kinds of errors.

import { t } from "./language.js";
import { setClock } from "./words.js";

const MOST_AT_ONCE = 100;
const LONGEST_MS = 30000; // a write without an answer counts as lost after that

/** An answer of the server that says no. */
export class Refusal extends Error {
  constructor(status, answer) {
    super(answer.message || t("The server answered {status}.", { status }));
    this.status = status;
    this.code = answer.error;
    this.answer = answer;
  }
}

/** No answer from the server; `isUnsure` if that leaves open whether something was done. */
export class Offline extends Error {
  constructor(isUnsure) {
    super(isUnsure ? t("The server gave no answer. Look whether it was done before you try again.") : t("The server can't be reached."));
    this.isUnsure = isUnsure;
  }
}

let shownName = null;

/** Have the server refuse what it would do under another name than this one, which the page shows. */
export const actAs = (name) => { shownName = name; };

/** Send a request and return the JSON that came back; throws Refusal or Offline. */
async function call(method, path, body, signal, name = shownName) {
  const headers = { "X-Rejoinder": "desk" };
  if (name !== null && path.startsWith("/v1/")) headers["X-Rejoinder-Name"] = encodeURIComponent(name);
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const until = signal ?? (method === "GET" ? undefined : AbortSignal.timeout(LONGEST_MS));
  let response;
  let answer;
  try {
    response = await fetch(path, { method, headers, signal: until, body: body === undefined ? undefined : JSON.stringify(body) });
    answer = await response.json().catch(orNothing);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Offline(method !== "GET" && !signal && path.startsWith("/v1/"));
  }
  if (!response.ok) throw new Refusal(response.status, answer);
  setClock(answer.now);
  return answer;
}

/** Take an answer that isn't JSON for an empty one; one that broke off is none. */
function orNothing(error) {
  if (error instanceof SyntaxError) return {};
  throw error;
}

const pathOf = (key) => {
  const cut = key.indexOf("/");
  return `/v1/cases/${encodeURIComponent(key.slice(0, cut))}/${encodeURIComponent(key.slice(cut + 1))}`;
};

export const listCases = (query) => call("GET", `/v1/cases?${query}`);
export const fetchChoices = () => call("GET", "/v1/choices");
export const fetchCase = (key) => call("GET", pathOf(key));
export const decide = (key, decision) => call("POST", `${pathOf(key)}/decision`, decision);
export const tellUncovered = (key) => call("POST", `${pathOf(key)}/uncovered`);
export const checkText = (key, text, signal) => call("POST", `${pathOf(key)}/checks`, { text }, signal);

/** Decide on cases, as many at a time as the server takes; what a later request loses is reported as not done. */
export async function decideMany({ cases, ...decision }) {
  const results = [];
  for (let from = 0; from < cases.length; from += MOST_AT_ONCE) {
    const batch = cases.slice(from, from + MOST_AT_ONCE);
    try {
      results.push(...(await call("POST", "/v1/decisions", { ...decision, cases: batch })).results);
    } catch (error) {
      if (!from) throw error;
      results.push(...batch.map(({ key }) => ({ key, done: false, message: error.message })));
    }
  }
  return { results };
}
export const fetchRelated = (key) => call("GET", `${pathOf(key)}/related`);
export const addNote = (key, text) => call("POST", `${pathOf(key)}/notes`, { text });
export const tellViewing = (tab, key) => call("POST", "/v1/viewing", { tab, case: key });

export const fetchToday = () => call("GET", "/v1/today");
export const fetchAbout = () => call("GET", "/v1/about");
export const fetchStats = (period) => call("GET", `/v1/stats?period=${period}`);
export const fetchStanding = () => call("GET", "/v1/standing");
export const setIntent = (intent) => call("POST", "/v1/standing/intents", intent);
export const setPause = (pause) => call("POST", "/v1/standing/pauses", pause);
export const fetchLanguage = (name) => call("GET", "/v1/language", undefined, undefined, name);
export const chooseLanguage = (language) => call("PUT", "/v1/language", { language });
export const fetchHidden = () => call("GET", "/v1/hidden-groups");
export const hideGroups = (groups) => call("PUT", "/v1/hidden-groups", { groups });
export const findEvidence = (query, group, signal) => call("POST", "/v1/evidence", { query, group }, signal);
export const addEvidence = (key, id) => call("POST", `${pathOf(key)}/evidence`, { id });

export const whoAmI = () => call("GET", "/session");
export const logIn = (token) => call("POST", "/session", { token });
export const listSessions = () => call("GET", "/v1/sessions");
export const endSession = (id) => call("DELETE", `/v1/sessions/${id}`);
export const logOut = () => call("DELETE", "/session");
