// Care for moderators: grey, blur, a limit per hour, breaks. Kept in this browser, sent to nobody.

import { byId, say } from "./dom.js";
import { t } from "./language.js";
import { ask } from "./menus.js";
import { store, stored } from "./stored.js";
import { hasLooked, looksInHour } from "./tally.js";
import { toast } from "./toasts.js";
import { postCount } from "./words.js";

const MINUTE = 60000;
const UNSET = { grey: false, blur: 0, limit: 0, worked: 0, rest: 5 };
const place = (person) => `rejoinder-care:${person}`;
let care = UNSET;
let workingSince = Date.now();
let restsUntil = null;

/** Return this person's settings: `grey`, `blur` 0 to 3, posts an hour, minutes of work before a break, and of a break. */
export const careOf = (person) => ({ ...UNSET, ...stored(place(person)) });

/** Keep what a person has set, and let the page be so. */
export function keepCare(person, changed) {
  store(place(person), changed);
  applyCare(changed);
}

/** Let the page be as somebody has set it. */
export function applyCare(changed) {
  care = changed;
  document.documentElement.toggleAttribute("data-grey", care.grey);
  document.body.dataset.blur = care.blur;
}

/** Tell whether a post may be uncovered now; beyond the limit that the person has set themselves, they are asked. */
export async function mayLook(key) {
  if (!care.limit || hasLooked(key) || looksInHour() < care.limit) return true;
  const answer = await ask("limit", { title: t("You have looked at {posts} within an hour, as many as you wished for. You have done a lot; the rest can wait a little.", { posts: postCount(looksInHour()) }) });
  if (answer?.choice === "rest") takeBreak();
  return answer?.choice === "look";
}

/** Cover the page until the break is over or is ended. */
export function takeBreak() {
  restsUntil = Date.now() + care.rest * MINUTE;
  byId("worked").hidden = true;
  const dialog = byId("break");
  dialog.onclose = () => { restsUntil = null; workingSince = Date.now(); };
  if (!dialog.open) dialog.showModal();
  tickCare();
}

/** Count the break down, or say kindly that one is due. */
export function tickCare() {
  if (restsUntil !== null) return countDown();
  if (!care.worked || !byId("worked").hidden) return;
  const minutes = Math.floor((Date.now() - workingSince) / MINUTE);
  if (minutes < care.worked) return;
  say(byId("worked").querySelector("p"), t("You have worked for {n} minutes. A short break is part of the work.", { n: minutes }));
  byId("worked").hidden = false;
}

/** Put the message that a break is due away for as long as somebody works at a time. */
export function notNow() {
  workingSince = Date.now();
  byId("worked").hidden = true;
}

function countDown() {
  const left = Math.ceil((restsUntil - Date.now()) / 1000);
  if (left <= 0) {
    byId("break").close();
    return toast(t("The break is over. Go on when you are ready."), "good");
  }
  byId("break").querySelector(".clock").textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
}
