// The page "Today": what waits for whom, what floods in, the figures, and what stands until somebody changes it.

import { showParts } from "./about.js";
import { fetchStanding, fetchStats, fetchToday, setIntent, setPause } from "./api.js";
import { copyOf, make, say, slot } from "./dom.js";
import { here } from "./here.js";
import { t } from "./language.js";
import { showPage } from "./opening.js";
import { explain } from "./trouble.js";
import { groupWord, groupWords, holder, intentWord, postCount, smallPrint } from "./words.js";

let last = "";
let asked = 0;

/** Open the page; `isStep`: Back returns from it. */
export async function openToday(isStep = true) {
  const root = make("div", { class: "case-inner today" }, copyOf("today-template"));
  showPage("today", root, isStep);
  last = "";
  const period = slot(root, "period");
  period.addEventListener("change", () => showFigures(root).catch(explain));
  slot(root, "intent-form").addEventListener("submit", (event) => { event.preventDefault(); setOwnIntent(root).catch(explain); });
  slot(root, "intent-kind").addEventListener("change", () => fitScope(root));
  const { leads } = here.me;
  slot(root, "export").hidden = !leads;
  slot(root, "intent-form").hidden = !leads;
  fitScope(root);
  slot(root, "title").focus({ preventScroll: true });
  try {
    await Promise.all([refreshToday(), showFigures(root), fetchStanding().then((standing) => showStanding(root, standing)), showParts(root)]);
  } catch (error) {
    explain(error);
  }
}

/** Bring the lists up to date where the page is open; what is the same stays as it is. */
export async function refreshToday() {
  const root = document.querySelector(".today");
  if (!root) return;
  const turn = ++asked;
  const today = await fetchToday();
  if (turn !== asked) return; // an answer to a later question is here already
  const { now, ...rest } = today;
  if (!root.isConnected || JSON.stringify(rest) === last) return;
  last = JSON.stringify(rest);
  slot(root, "sum").textContent = [
    t("{posts} waiting, {doubtful} of them in doubt", { posts: postCount(today.waiting), doubtful: today.doubtful }),
    today.appealed && t("appeals: {n}", { n: today.appealed }), today.unhandled && t("escalated and not handled: {n}", { n: today.unhandled }),
  ].filter(Boolean).join(" · ");
  fill(root, "mine", today.mine.map(caseLine));
  fill(root, "oldest", today.oldest.map(caseLine));
  fill(root, "surges", today.surges.map(({ words }) => make("li", { class: "surge", text: words })), t("Posts come at their usual pace."));
  fill(root, "team", today.team.map((each) => make("li", {}, make("strong", { text: each.who, dir: "auto" }), ` ${load(each)}`)));
}

const load = ({ held, assigned }) => [held && t("holds {n}", { n: held }), assigned && t("was assigned {n}", { n: assigned })].filter(Boolean).join(", ");

/** Fill a list of the page, or say in it that there is nothing. */
function fill(root, name, lines, nothing = t("Nothing.")) {
  slot(root, name).replaceChildren(...(lines.length ? lines : [make("li", { class: "note", text: nothing })]));
}

function caseLine(item) {
  const who = holder(item);
  return make("li", {},
    make("button", { type: "button", class: "link", "data-open": item.key, text: groupWords(item.groups) }),
    ...smallPrint(` · ${[item.platform, item.post_id, item.sample && t("sample"), who].filter(Boolean).join(" · ")}, `, item.received_at));
}

async function showFigures(root) {
  const period = slot(root, "period").value;
  const { words, decided } = await fetchStats(period);
  if (!root.isConnected) return;
  slot(root, "figures").replaceChildren(...words.map((text) => make("p", { text })));
  const picture = slot(root, "picture");
  picture.hidden = !decided;
  picture.alt = t("Bars: how many of the drafts were accepted, by group and by intent");
  if (decided) picture.src = `/v1/stats.svg?period=${period}&at=${Date.now()}`;
  for (const link of slot(root, "export").querySelectorAll("a")) link.href = `/v1/export?period=${period}&format=${link.dataset.format}`;
}

/** Offer groups for a group, a field for a language, and nothing for everything. */
function fitScope(root) {
  const kind = slot(root, "intent-kind").value;
  for (const field of slot(root, "intent-form").querySelectorAll("[data-kind]")) field.hidden = field.dataset.kind !== kind;
}

async function setOwnIntent(root) {
  const kind = slot(root, "intent-kind").value;
  const scope = slot(root, "intent-form").querySelector(`:is(select, input)[data-kind="${kind}"]`)?.value ?? "";
  showStanding(root, await setIntent({ kind, scope, intent: slot(root, "intent").value }));
}

function showStanding(root, { intents, channels, muted }) {
  const { leads } = here.me;
  const button = (text, about, send) => {
    const element = make("button", { type: "button", class: "link", text, "aria-label": `${text}: ${about}` });
    element.addEventListener("click", () => send().then((after) => showStanding(root, after)).catch(explain));
    return element;
  };
  const line = (name, words, element) => make("li", {}, make("strong", { text: name }), ` ${words} `, element);
  fill(root, "intents", intents.map((each) => {
    const { kind, scope, surface } = each;
    const where = kind === "group" ? groupWord(scope) : scope || t("everything");
    const isOwn = surface === "desk";
    return line(where, `${intentWord(each.intent)} · ${t("set by {who}", each)} ${isOwn ? "" : t("on {surface}", each)}`,
      isOwn && leads ? button(t("Clear"), where, () => setIntent({ kind, scope, intent: null })) : null);
  }), t("None: each draft has the desk's own intent."));
  slot(root, "channels-card").hidden = !channels.length && !muted.length;
  fill(root, "channels", [...channels.map((room) => {
    const { surface, server, channel, paused_by: by } = room;
    return line(`${surface} ${channel}`, by ? t("paused by {who}", { who: by }) : t("gets its cards"), leads
      ? button(by ? t("Resume") : t("Pause"), channel, () => setPause({ surface, server, kind: "paused", scope: channel, on: !by })) : null);
  }), ...muted.map((each) => line(`${each.surface} ${each.platform}`, t("muted by {who}", each)))]);
}
