// The list on the left: which cases there are, which one is open, which comes next.

import { listCases } from "./api.js";
import { byId, copyOf } from "./dom.js";
import { age, ALARMING, groupWord, holder, percent, WAITING } from "./words.js";

const PAGE = 100;

/** What is chosen to be listed: its states, and `doubtful` where that matters. */
const chosen = () => byId("state-filter").selectedOptions[0].dataset;

const doubtLabel = () => byId("state-filter").querySelector('[data-doubtful="true"]').dataset.label;

/** Say in the list why a case has no draft. */
function draftless(item) {
  if (item.doubtful) return `In doubt: hate probability ${percent(item.hate)}`;
  return item.origin === "none" ? "No draft: write the reply" : "No draft";
}

/** The listed cases. `me` returns who is logged in; `onOpen(key)` opens a case; `onRestart` and `onError` are set. */
export class Queue {
  constructor(me, onOpen) {
    this.me = me;
    this.onOpen = onOpen;
    this.cases = [];
    this.counts = {};
    this.doubtful = 0;
    this.cursor = null;
    this.selected = null;
    this.awaited = null;
    this.refreshes = 0;
    for (const id of ["state-filter", "group-filter", "mine-filter"]) {
      byId(id).addEventListener("change", () => this.restart().catch((error) => this.onError(error)));
    }
    byId("search").addEventListener("input", () => this.render());
    byId("more").addEventListener("click", () => this.more().catch((error) => this.onError(error)));
    byId("cases").addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.onOpen(row.dataset.key, true);
    });
  }

  get waiting() { return chosen().states === WAITING; }

  get doubting() { return chosen().doubtful === "true"; }

  /** List what was escalated, the newest first, and open that. */
  showEscalated() {
    const choice = [...byId("state-filter").options].find((option) => option.dataset.states === ALARMING);
    byId("state-filter").value = choice.value;
    return this.restart();
  }

  /** Return the cases that match the search, in order. */
  get shown() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    return this.cases.filter((item) => {
      const text = [item.key, item.draft, ...item.groups.map((each) => groupWord(each.group))].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }

  /** Read the list again from its start and open its first case. */
  async restart() {
    this.cases = [];
    await this.refresh();
    this.onRestart();
  }

  /** Read as much of the list again as was shown; what is open stays open. */
  async refresh() {
    const atLeast = Math.max(this.cases.length, 1);
    const turn = ++this.refreshes;
    let cases = [];
    let cursor = null;
    do {
      const page = await this.page(cursor);
      cases = cases.concat(page.cases);
      cursor = page.next_cursor;
      if (turn === this.refreshes) [this.counts, this.doubtful] = [page.counts, page.doubtful];
    } while (cursor && cases.length < atLeast);
    if (turn !== this.refreshes) return;
    this.cases = cases;
    this.cursor = cursor;
    this.render();
  }

  async more() {
    const page = await this.page(this.cursor);
    const known = new Set(this.cases.map((item) => item.key));
    this.cases = this.cases.concat(page.cases.filter((item) => !known.has(item.key)));
    this.cursor = page.next_cursor;
    this.render();
  }

  page(cursor) {
    const query = new URLSearchParams({ limit: PAGE, order: this.waiting ? "oldest" : "newest" });
    for (const state of chosen().states.split(" ")) query.append("state", state);
    if (chosen().doubtful) query.set("doubtful", chosen().doubtful);
    if (byId("group-filter").value) query.set("group", byId("group-filter").value);
    if (byId("mine-filter").checked) query.set("mine", "true");
    if (cursor) query.set("cursor", cursor);
    return listCases(query);
  }

  /** Mark a case as the open one; null for none. */
  select(key) {
    this.selected = key;
    this.awaited = null;
    this.showMarked();
  }

  /** Mark a case as the one that loads; none is open meanwhile. */
  awaitCase(key) {
    this.selected = null;
    this.awaited = key;
    this.showMarked();
  }

  showMarked() {
    this.render();
    byId("cases").querySelector("[aria-current], [aria-busy]")?.scrollIntoView({ block: "nearest" });
  }

  /** Return the key `steps` away from the case that is open or loads, or of the first one. */
  away(steps) {
    const shown = this.shown;
    const place = shown.findIndex((item) => item.key === (this.awaited ?? this.selected));
    if (place < 0) return shown[0]?.key ?? null;
    return shown[Math.min(shown.length - 1, Math.max(0, place + steps))].key;
  }

  /** Take a decided case off the list and return the key of the one to go on with, or null. */
  takeOff(key) {
    const shown = this.shown;
    const place = Math.max(0, shown.findIndex((item) => item.key === key));
    const rest = shown.filter((item) => item.key !== key);
    this.cases = this.cases.filter((item) => item.key !== key);
    this.counts[WAITING] = Math.max(0, this.counts[WAITING] - 1);
    if (this.doubting) this.doubtful = Math.max(0, this.doubtful - 1);
    this.render();
    const free = (item) => [null, this.me()].includes(holder(item));
    const next = rest.slice(place).find(free) ?? rest.find(free) ?? rest[0];
    return next?.key ?? null;
  }

  render() {
    const shown = this.shown;
    const list = byId("cases");
    const focused = document.activeElement?.closest?.(".row")?.dataset.key;
    list.replaceChildren(...shown.map((item) => this.row(item)));
    if (focused) list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    byId("more").hidden = this.cursor === null;
    byId("queue-count").textContent = this.countWords(shown.length);
    const waiting = this.countOf({ states: WAITING, doubtful: "false" });
    document.title = waiting ? `(${waiting}) Rejoinder desk` : "Rejoinder desk";
    for (const option of byId("state-filter").options) {
      const number = this.countOf(option.dataset);
      option.dataset.label ??= option.text;
      option.text = `${option.dataset.label} (${number})`;
    }
  }

  countOf({ states, doubtful }) {
    const inStates = states.split(" ").reduce((sum, state) => sum + (this.counts[state] ?? 0), 0);
    if (doubtful === undefined) return inStates;
    return doubtful === "true" ? this.doubtful : Math.max(0, inStates - this.doubtful);
  }

  countWords(shown) {
    if (!this.cases.length) return this.emptyWords().title;
    const searched = byId("search").value.trim() ? `${shown} match of ${this.cases.length} listed` : `${shown} listed`;
    const order = this.waiting ? "oldest first" : "newest first";
    return `${searched}, ${order}${this.cursor ? "; there are more" : ""}`;
  }

  /** Say in a heading and a sentence that nothing is listed. */
  emptyWords() {
    if (!this.waiting) return { title: "Nothing here.", words: "No case is in this state, or none fits the filters." };
    if (this.doubting) return { title: "Nothing is in doubt.", words: "New posts in doubt appear here by themselves." };
    const doubts = this.doubtful ? ` In doubt, hateful or not: ${this.doubtful}; choose “${doubtLabel()}” to see them.` : "";
    return {
      title: "Nothing waits.",
      words: `Every draft has its answer. New ones appear here by themselves; this is a good moment for a break.${doubts}`,
    };
  }

  row(item) {
    const copy = copyOf("row-template");
    const row = copy.querySelector(".row");
    row.dataset.key = item.key;
    if (item.key === this.selected) row.setAttribute("aria-current", "true");
    if (item.key === this.awaited) row.setAttribute("aria-busy", "true");
    const groups = item.groups.map((each) => groupWord(each.group)).join(", ");
    copy.querySelector(".row-group").textContent = groups || "no group found";
    const time = copy.querySelector(".row-age");
    time.dateTime = item.received_at;
    time.textContent = age(item.received_at);
    copy.querySelector(".row-draft").textContent = item.draft || draftless(item);
    copy.querySelector(".row-platform").textContent = item.platform;
    const who = holder(item);
    copy.querySelector(".row-claim").textContent = who ? (who === this.me() ? "yours" : `held by ${who}`) : "";
    return copy;
  }
}
