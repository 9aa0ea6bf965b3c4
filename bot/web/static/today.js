// The page "Today": what waits for whom, what floods in, the figures, and what stands until somebody changes it.

import { showParts } from "./about.js";
import { fetchStanding, fetchStats, fetchToday, setIntent, setPause } from "./api.js";
import { copyOf, make, say, slot } from "./dom.js";
import { here } from "./here.js";
import { showPage } from "./opening.js";
import { TEXTS } from "./texts.js";
import { explain } from "./trouble.js";
import { age, groupWord, holder } from "./words.js";

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
  const leads = here.me.role !== "reviewer";
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
  const { waiting, appealed, unhandled, nothing, noSurge, load } = TEXTS.today;
  slot(root, "sum").textContent = [waiting(today), today.appealed && appealed(today.appealed), today.unhandled && unhandled(today.unhandled)]
    .filter(Boolean).join(" · ");
  fill(root, "mine", today.mine.map(caseLine), nothing);
  fill(root, "oldest", today.oldest.map(caseLine), nothing);
  fill(root, "surges", today.surges.map(({ words }) => make("li", { class: "surge", text: words })), noSurge);
  fill(root, "team", today.team.map((each) => make("li", {}, make("strong", { text: each.who, dir: "auto" }), ` ${load(each)}`)), nothing);
}

/** Fill a list of the page, or say in it that there is nothing. */
function fill(root, name, lines, nothing) {
  slot(root, name).replaceChildren(...(lines.length ? lines : [make("li", { class: "note", text: nothing })]));
}

function caseLine(item) {
  const groups = item.groups.map((each) => groupWord(each.group)).join(", ") || item.post_id;
  const who = holder(item);
  return make("li", {},
    make("button", { type: "button", class: "link", "data-open": item.key, text: groups }),
    make("span", { class: "history-who", text: ` · ${[item.platform, item.sample && TEXTS.today.sample, who].filter(Boolean).join(" · ")}, ` }),
    make("time", { datetime: item.received_at, "data-age": true, text: age(item.received_at) }));
}

async function showFigures(root) {
  const period = slot(root, "period").value;
  const { words, decided } = await fetchStats(period);
  if (!root.isConnected) return;
  slot(root, "figures").replaceChildren(...words.map((text) => make("p", { text })));
  const picture = slot(root, "picture");
  picture.hidden = !decided;
  picture.alt = TEXTS.figures.picture;
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
  const leads = here.me.role !== "reviewer";
  const { noIntent, nothing, setBy, inChat, everything, clear, paused, open, pause, resume, muted: mutedBy } = TEXTS.today;
  fill(root, "intents", intents.map((each) => {
    const where = each.kind === "group" ? groupWord(each.scope) : each.scope || everything;
    const button = make("button", { type: "button", class: "link", text: clear, "aria-label": `${clear}: ${where}` });
    button.addEventListener("click", () => setIntent({ kind: each.kind, scope: each.scope, intent: null })
      .then((after) => showStanding(root, after)).catch(explain));
    const isOwn = each.surface === "desk";
    return make("li", {}, make("strong", { text: where }), ` ${each.intent} · ${setBy(each.who)} ${isOwn ? "" : inChat(each.surface)} `, isOwn && leads ? button : null);
  }), noIntent);
  slot(root, "channels-card").hidden = !channels.length && !muted.length;
  fill(root, "channels", [...channels.map((room) => {
    const button = make("button", { type: "button", class: "link", text: room.paused_by ? resume : pause, "aria-label": `${room.paused_by ? resume : pause}: ${room.channel}` });
    const { surface, server, channel } = room;
    button.addEventListener("click", () => setPause({ surface, server, kind: "paused", scope: channel, on: !room.paused_by })
      .then((after) => showStanding(root, after)).catch(explain));
    return make("li", {}, make("strong", { text: `${surface} ${channel}` }), ` ${room.paused_by ? paused(room.paused_by) : open} `, leads ? button : null);
  }), ...muted.map((each) => make("li", {}, make("strong", { text: `${each.surface} ${each.platform}` }), ` ${mutedBy(each.who)}`))], nothing);
}
