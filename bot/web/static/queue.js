// The list on the left: which cases there are, which one is open, which comes next.

import { listCases } from "./api.js";
import { byId, copyOf } from "./dom.js";
import { t, tn } from "./language.js";
import { age, ALARMING, groupWord, groupWords, holder, percent, WAITING } from "./words.js";

const PAGE = 100;
const TYPING_MS = 200;

/** What the list's filter chooses: states, and `doubtful` where it matters. */
const chosen = () => byId("state-filter").selectedOptions[0].dataset;

const doubtLabel = () => byId("state-filter").querySelector('[data-doubtful="true"]').dataset.label;

/** Choose the option of this value, or the first where there is none. */
function pick(id, value) {
  byId(id).value = value;
  if (byId(id).selectedIndex < 0) byId(id).selectedIndex = 0;
}

/** Say why a case has no draft. */
function draftless(item) {
  if (item.doubtful) return t("In doubt: hate probability {share}", { share: percent(item.hate) });
  if (item.awaits_request) return t("No draft: see the evidence");
  return item.origin === "none" ? t("No draft: write the reply") : t("No draft");
}

/** The listed cases. `me()` is who is logged in; `onOpen(key, byHand)`, `onRestart`, `onChoice`, `onRender` and `onError` are set. */
export class Queue {
  constructor(me) {
    this.me = me;
    this.cases = [];
    this.rows = new Map();
    this.counts = {};
    this.isNew = true; // whether no post has ever come in
    this.hidden = []; // groups that this person does not want to see
    this.flagged = { doubtful: 0, handled: 0, appealed: 0 };
    this.cursor = null;
    this.selected = null;
    this.awaited = null;
    this.place = 0; // where the open case stands in the list, or stood when it left
    this.refreshes = 0;
    for (const id of ["state-filter", "group-filter", "mine-filter"]) {
      byId(id).addEventListener("change", () => { this.onChoice(); this.restart().catch((error) => this.onError(error)); });
    }
    byId("search").addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.search(), TYPING_MS);
    });
    byId("more").addEventListener("click", () => this.more().catch((error) => this.onError(error)));
    byId("cases").addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.onOpen(row.dataset.key, true);
    });
  }

  get waiting() { return chosen().states === WAITING; }

  get oldestFirst() { return this.waiting || chosen().appealed === "true"; }

  get doubting() { return chosen().doubtful === "true"; }

  /** What the list is narrowed to, as the address says it. */
  get choices() {
    return {
      show: byId("state-filter").selectedIndex ? byId("state-filter").value : "",
      group: byId("group-filter").value,
      mine: byId("mine-filter").checked ? "1" : "",
      search: byId("search").value.trim(),
    };
  }

  /** Narrow the list as an address says; return whether that changes anything. It is to be read again then. */
  choose({ show, group, mine, search }) {
    const before = JSON.stringify(this.choices);
    pick("state-filter", show);
    pick("group-filter", group);
    byId("mine-filter").checked = Boolean(mine);
    byId("search").value = search;
    return JSON.stringify(this.choices) !== before;
  }

  /** List what the words in the search field are found in; what is open stays open. */
  async search() {
    this.onChoice();
    await this.readAnew();
  }

  async readAnew() {
    this.cases = [];
    await this.refresh().catch((error) => this.onError(error));
  }

  /** List what was escalated, the newest first, and open that. */
  showEscalated() {
    const choice = [...byId("state-filter").options].find((option) => option.dataset.states === ALARMING);
    byId("state-filter").value = choice.value;
    this.onChoice();
    return this.restart();
  }

  /** Read the list again from its start and open its first case. */
  async restart() {
    this.cases = [];
    await this.refresh();
    this.onRestart();
  }

  /** Read as much of the list again as was shown; what is open stays open. */
  async refresh() {
    const turn = ++this.refreshes;
    let cases = [];
    let cursor = null;
    do {
      const page = await this.page(cursor);
      cases = cases.concat(page.cases);
      cursor = page.next_cursor;
      if (turn === this.refreshes) {
        this.counts = page.counts;
        this.isNew &&= Object.values(page.counts).every((number) => number === 0);
        this.hidden = page.hidden;
        this.flagged = { doubtful: page.doubtful, handled: page.handled, appealed: page.appealed };
      }
      // More may have been read meanwhile.
    } while (cursor && cases.length < this.cases.length);
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
    const query = new URLSearchParams({ limit: PAGE, order: this.oldestFirst ? "oldest" : "newest" });
    for (const state of chosen().states.split(" ")) query.append("state", state);
    for (const flag of Object.keys(this.flagged)) if (chosen()[flag]) query.set(flag, chosen()[flag]);
    if (byId("group-filter").value) query.set("group", byId("group-filter").value);
    if (byId("mine-filter").checked) query.set("mine", "true");
    if (byId("search").value.trim()) query.set("search", byId("search").value.trim());
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
    for (const row of byId("cases").querySelectorAll(".row:is([aria-current], [aria-busy], [tabindex='0'])")) this.mark(row);
    const key = this.awaited ?? this.selected;
    const row = key && this.rowOf(key);
    if (row) {
      this.mark(row);
      row.scrollIntoView({ block: "nearest" });
    }
    this.keepPlace();
    this.keepTabStop();
  }

  rowOf(key) { return this.rows.get(key)?.row.querySelector(".row"); }

  mark(row) {
    const { key } = row.dataset;
    for (const [name, isMarked] of [["aria-busy", key === this.awaited], ["aria-current", key === this.selected]]) {
      if (isMarked) row.setAttribute(name, "true");
      else row.removeAttribute(name);
    }
    row.tabIndex = key === (this.awaited ?? this.selected) ? 0 : -1;
  }

  /** Let Tab stop at one row only: the open one, else the first. */
  keepTabStop() {
    if (!byId("cases").querySelector(".row[tabindex='0']")) byId("cases").querySelector(".row")?.setAttribute("tabindex", "0");
  }

  keepPlace() {
    const place = this.cases.findIndex((item) => item.key === (this.awaited ?? this.selected));
    if (place >= 0) this.place = place;
  }

  /** Return the key `steps` away from the case that is open or loads, reading on where the list ends, or null. */
  async away(steps) {
    const isListed = this.cases.some((item) => item.key === (this.awaited ?? this.selected));
    // The next case stands where one stood that is not listed any more.
    const wanted = this.place + (isListed ? steps : Math.min(0, steps));
    if (wanted >= this.cases.length && this.cursor) await this.more();
    return this.cases[Math.min(this.cases.length - 1, Math.max(0, wanted))]?.key ?? null;
  }

  /** Take a decided case off the list and return the key of the one to go on with, or null. */
  async takeOff(key) {
    const place = Math.max(0, this.cases.findIndex((item) => item.key === key));
    this.cases = this.cases.filter((item) => item.key !== key);
    if (place >= this.cases.length && this.cursor) await this.more();
    const rest = this.cases;
    this.counts[WAITING] = Math.max(0, this.counts[WAITING] - 1);
    if (this.doubting) this.flagged.doubtful = Math.max(0, this.flagged.doubtful - 1);
    this.render();
    const free = (item) => [null, this.me().name].includes(holder(item));
    const next = rest.slice(place).find(free) ?? rest.find(free) ?? rest[0];
    return next?.key ?? null;
  }

  render() {
    const shown = this.cases;
    const list = byId("cases");
    const focused = document.activeElement?.closest?.(".row")?.dataset.key;
    const rows = this.rowsOf(shown);
    const kept = new Set(rows);
    for (const row of [...list.children]) if (!kept.has(row)) row.remove();
    rows.forEach((row, place) => { if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null); });
    this.keepPlace();
    this.keepTabStop();
    if (focused) list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    byId("more").hidden = this.cursor === null;
    this.onRender();
    byId("queue-count").textContent = this.countWords(shown.length);
    const waiting = this.countOf({ states: WAITING, doubtful: "false" });
    const escalated = this.me().leads && this.countOf({ states: ALARMING, handled: "false" });
    document.title = `${escalated ? `⚠ ${escalated} ` : ""}${waiting ? `(${waiting}) ` : ""}${t("Rejoinder desk")}`;
    for (const option of byId("state-filter").options) {
      const number = this.countOf(option.dataset);
      option.dataset.label ??= option.text;
      option.text = `${option.dataset.label} (${number})`;
    }
  }

  countOf(choice) {
    const inStates = choice.states.split(" ").reduce((sum, state) => sum + (this.counts[state] ?? 0), 0);
    const flag = Object.keys(this.flagged).find((name) => choice[name] !== undefined);
    if (!flag) return inStates;
    return choice[flag] === "true" ? this.flagged[flag] : Math.max(0, inStates - this.flagged[flag]);
  }

  countWords(shown) {
    if (!this.cases.length) return this.emptyWords().title;
    const searched = byId("search").value.trim() ? t("{n} found", { n: shown }) : t("{n} listed", { n: shown });
    const order = this.oldestFirst ? t("oldest first") : t("newest first");
    const hidden = this.hidden.length && tn("{n} group hidden", "{n} groups hidden", this.hidden.length);
    return [`${searched}, ${order}`, this.cursor && t("there are more"), hidden].filter(Boolean).join("; ");
  }

  /** Say in a heading and a sentence that nothing is listed. */
  emptyWords() {
    if (this.isNew) return { title: t("No post has come in yet."), words: t("This desk works, and it is empty: the first flagged post appears here by itself.") };
    const { group, mine, search } = this.choices;
    if (group || mine || search) return { title: t("Nothing found."), words: t("No case fits the search and the filters above the list.") };
    if (!this.waiting) return { title: t("Nothing here."), words: t("No case is in this state, or none fits the filters.") };
    if (this.doubting) return { title: t("Nothing is in doubt."), words: t("New posts in doubt appear here by themselves.") };
    if (this.hidden.length && this.countOf(chosen())) {
      const words = t("You hide posts against {groups}; they wait for others. Settings shows them again.", { groups: this.hidden.map(groupWord).join(", ") });
      return { title: t("Nothing waits for you."), words };
    }
    const doubts = this.flagged.doubtful && t("In doubt, hateful or not: {n}; choose “{choice}” to see them.", { n: this.flagged.doubtful, choice: doubtLabel() });
    const words = t("Every draft has its answer. New ones appear here by themselves; this is a good moment for a break.");
    return { title: t("Nothing waits."), words: [words, doubts].filter(Boolean).join(" ") };
  }

  /** Return a row for each case; one that says what it said before is not built anew, however long the list is. */
  rowsOf(items) {
    const before = this.rows;
    this.rows = new Map(items.map((item) => {
      const says = JSON.stringify([item, holder(item)]);
      const known = before.get(item.key);
      return [item.key, known?.says === says ? known : { says, row: this.row(item).firstElementChild }];
    }));
    return [...this.rows.values()].map(({ row }) => row);
  }

  row(item) {
    const copy = copyOf("row-template");
    const row = copy.querySelector(".row");
    row.dataset.key = item.key;
    this.mark(row);
    copy.querySelector(".row-group").textContent = groupWords(item.groups);
    const time = copy.querySelector(".row-age");
    time.dateTime = item.received_at;
    time.textContent = age(item.received_at);
    copy.querySelector(".row-draft").textContent = item.draft || draftless(item);
    copy.querySelector(".row-platform").textContent = item.platform;
    copy.querySelector(".row-sample").hidden = !item.sample;
    copy.querySelector(".row-same").textContent = item.same_text ? t("same text × {n}", { n: item.same_text + 1 }) : item.appealed ? t("appeal") : "";
    const who = holder(item);
    copy.querySelector(".row-claim").textContent = who ? (who === this.me().name ? t("yours") : t("held by {who}", { who })) : "";
    return copy;
  }
}
