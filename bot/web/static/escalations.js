// Tell leads of escalations at once, in one message that counts, until they look or put it away.

import { byId } from "./dom.js";
import { tn } from "./language.js";

const PAUSE_MS = 2000; // a screen reader reads every change of the message: a burst is read once in a while, not each time
const known = new Set();
let untold = []; // escalations that nobody has looked at or put away, oldest first
let said = 0;
let pausing = false;
let look = () => {};

/** Call `onLook(keys)` with the cases of the message when somebody wants to see them. */
export function listenToEscalations(onLook) {
  look = onLook;
  byId("escalations").addEventListener("click", (event) => {
    const choice = event.target.closest("[data-escalations]")?.dataset.escalations;
    if (choice === "open") openEscalations();
    else if (choice === "close") putAway();
  });
}

/** Count escalations, rows of the history, each case once however often it is sent. */
export function tellEscalations(changes) {
  untold.push(...changes.filter(({ case_key }) => known.size < known.add(case_key).size));
  show();
}

/** Open what the message tells of; without a message nothing happens. */
export function openEscalations() {
  const keys = untold.map((change) => change.case_key);
  putAway();
  if (keys.length) look(keys);
}

function putAway() {
  untold = [];
  said = 0;
  byId("escalations").hidden = true;
}

function show() {
  if (pausing || untold.length === said) return;
  said = untold.length;
  const why = untold.at(-1).why.split(":")[0].replace(/\.$/, "");
  byId("escalations").querySelector("p").textContent = tn("{n} post was escalated. {why}.", "{n} posts were escalated. The newest: {why}.", said, { why });
  byId("escalations").hidden = false;
  pausing = true;
  setTimeout(() => { pausing = false; show(); }, PAUSE_MS);
}
