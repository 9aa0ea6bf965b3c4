// The desk: what opens when, what a key or click does, and what is said when something goes wrong.

import { decide, fetchCase, Offline, Refusal, whoAmI } from "./api.js";
import { isUndoable, refreshAround, showCase, unveil } from "./case.js";
import { byId, copyOf, say, slot } from "./dom.js";
import { Editor } from "./editor.js";
import { listenToKeys } from "./keys.js";
import { follow } from "./live.js";
import { ask } from "./menus.js";
import { Queue } from "./queue.js";
import { askForToken, greet, whoIsHere } from "./session.js";
import { isLive, showConnection, tellTimes, warn } from "./status.js";
import { countLook, showTally } from "./tally.js";
import { announce, dropUndoable, lastUndoable, sweepToasts, toast, toastUndoable } from "./toasts.js";
import { holder, standing } from "./words.js";

const REFRESH_MS = 400;
const NARROW = matchMedia("(max-width: 760px)");
const GLANCE_MS = 400; // a second press of the same key is not a yes to a case nobody has seen yet
const DONE = { approve: "Approved", edit: "Approved with your text", reject: "Rejected" };

let me = { name: null, role: null };
let open = null; // {item, root, editor, shown, since} of the case on the page
let opening = 0;
let busy = false;
let refreshing = null;

const queue = new Queue(() => me.name, (key, byHand) => openCase(key, byHand));
queue.onError = explain;
queue.onRestart = () => goOn(queue.shown[0]?.key ?? null);

async function openCase(key, byHand = false) {
  const turn = ++opening;
  queue.select(key);
  if (byHand) document.body.dataset.view = "case";
  const slow = setTimeout(() => turn === opening && byId("case-body").replaceChildren(copyOf("loading-template")), 150);
  try {
    const item = await fetchCase(key);
    if (turn === opening) put(item);
  } catch (error) {
    if (turn === opening) explain(error);
  } finally {
    clearTimeout(slow);
  }
}

function put(item) {
  const same = open?.item.key === item.key && open.shown;
  const root = showCase(item, me);
  const editor = new Editor(root, item, me, { send: sendText, close: () => byId("case").focus({ preventScroll: true }) });
  open = { item, root, editor, shown: false, since: sameDraft(item) ? open.since : performance.now() };
  if (same) look(true);
  if (item.state === "pending" && item.drafts.at(-1)?.origin === "none" && !isOthers()) editor.start(false);
  byId("case").scrollTop = 0;
  tick();
}

const sameDraft = (item) => open?.item.key === item.key && open.item.drafts.length === item.drafts.length;
const isOthers = () => ![null, me.name].includes(holder(open.item));

function goOn(key) {
  if (key !== null) return openCase(key);
  opening++;
  open = null;
  queue.selected = null;
  document.body.dataset.view = "queue";
  const empty = copyOf("empty-template");
  empty.querySelector("h2").textContent = queue.waiting ? "Nothing waits." : "Nothing here.";
  empty.querySelector(".empty-words").textContent = queue.waiting
    ? "Every draft has its answer. New ones appear here by themselves; this is a good moment for a break."
    : "No case is in this state, or none fits the filters.";
  byId("case-body").replaceChildren(empty);
  announce(queue.waiting ? "Nothing waits." : "Nothing here.");
}

function look(shown = !open.shown) {
  open.shown = shown;
  unveil(open.root, open.item, shown);
  if (shown) countLook(open.item.key);
}

// --- decisions -----------------------------------------------------------------------------------------------------

async function act(action, rest = {}) {
  if (!open || busy) return;
  const { item, editor } = open;
  busy = true;
  try {
    const after = await decide(item.key, { action, version: item.version, ...rest });
    warn("");
    if (DONE[action]) editor.forget();
    await done(action, after);
  } catch (error) {
    await refused(error, action);
  } finally {
    busy = false;
  }
}

async function done(action, after) {
  if (DONE[action]) {
    toastUndoable(`${DONE[action]}.`, { key: after.key, version: after.version, until: after.release_at }, undo);
    tick();
    return moveOn(after);
  }
  if (action === "redraft") {
    toast("Another draft is being written; the case comes back to the queue with it.");
    return moveOn(after);
  }
  refreshOpen(after);
  if (action === "claim") toast("The case is yours.", "good");
  if (action === "release") toast("The case is free again.");
  soon();
}

function moveOn(after) {
  if (!queue.waiting) { put(after); return soon(); }
  const next = queue.takeOff(after.key);
  soon();
  return goOn(next);
}

async function undo(item) {
  try {
    const after = await decide(item.key, { action: "undo", version: item.version });
    dropUndoable(item.key);
    toast("Taken back; the case waits for you again.", "good");
    await queue.refresh();
    opening++;
    queue.select(after.key);
    put(after);
  } catch (error) {
    if (error instanceof Refusal) dropUndoable(item.key);
    await refused(error, "undo");
  }
}

function undoLast() {
  if (open && isUndoable(open.item)) return undo(open.item);
  const item = lastUndoable();
  if (item) undo(item);
  else toast("There is nothing that can still be undone.");
}

function sendText(text, override) {
  act("edit", { text, override });
}

async function refused(error, action) {
  if (error instanceof Refusal && error.status === 422) {
    open.editor.start();
    open.editor.verdict(error.answer.checks ?? [], error.message);
    return announce(error.message);
  }
  explain(error, error.answer?.case);
  if (error instanceof Refusal && ![409, 404].includes(error.status)) return;
  const key = open?.item.key;
  soon();
  if (key && action !== "undo") await reread(key);
}

function explain(error, now) {
  if (error instanceof Offline) return warn("The server can't be reached. Nothing you wrote is lost; trying again…");
  if (!(error instanceof Refusal)) throw error;
  if (error.status === 401) return logInAgain();
  const mine = now?.decided_by === me.name && ["approved", "rejected", "released"].includes(now.state);
  toast(mine ? `This was already ${standing(now)}, that is you.` : error.message, "bad");
}

async function logInAgain() {
  if (!byId("login").hidden) return;
  me = await askForToken();
  greet(me);
  byId("desk").hidden = false;
  soon();
}

// --- what others do ------------------------------------------------------------------------------------------------

function changed(change) {
  soon();
  if (change.case_key !== open?.item.key || change.version <= open.item.version) return;
  reread(change.case_key);
}

async function reread(key) {
  try {
    const item = await fetchCase(key);
    if (open?.item.key === key && item.version >= open.item.version) refreshOpen(item);
  } catch (error) {
    explain(error);
  }
}

function refreshOpen(item) {
  if (!open || open.item.key !== item.key) return;
  if (!open.editor.open) return put(item);
  open.item = item;
  open.editor.item = item;
  refreshAround(open.root, item, me);
  if (item.state !== "pending") {
    const words = `This case is no longer open: ${standing(item)}. Your text is kept as long as this page is.`;
    say(slot(open.root, "notice"), words);
    announce(words);
  }
}

function soon() {
  refreshing ??= setTimeout(async () => {
    refreshing = null;
    try {
      await queue.refresh();
      if (isLive()) warn("");
      if (!open && queue.shown.length && !NARROW.matches) goOn(queue.shown[0].key);
    } catch (error) {
      explain(error);
    }
  }, REFRESH_MS);
}

async function down() {
  warn("The connection is lost. Nothing you wrote is lost; trying again…");
  showConnection("away", "connecting…");
  const who = await whoAmI().catch(() => null);
  if (who && !who.name) logInAgain();
}

function up() {
  warn("");
  showConnection("live", "live");
  soon();
  if (open) reread(open.item.key);
}

// --- keys, clicks, time --------------------------------------------------------------------------------------------

/** Run `action` when the open case has a visible button for it. */
function offered(name, action) {
  return () => {
    if (!open || performance.now() - open.since < GLANCE_MS) return;
    if (open.root.querySelector(`.actions [data-do="${name}"]:not([hidden])`)) action();
  };
}

const actions = {
  approve: offered("approve", () => {
    if (open.editor.open) open.editor.start();
    else act("approve", { text: open.item.drafts.at(-1).text });
  }),
  edit: offered("edit", () => open.editor.start()),
  reject: offered("reject", async () => {
    const answer = await ask("reject", { needsWords: (choice) => choice === "other" });
    if (answer) act("reject", { reason: [answer.choice, answer.words].filter(Boolean).join(": ") });
  }),
  redraft: offered("redraft", async () => {
    const answer = await ask("redraft", { current: open.item.request.intent });
    if (answer) act("redraft", { intent: answer.choice, hint: answer.words });
  }),
  claim: offered("claim", () => {
    if (holder(open.item) === me.name) act("release");
    else act("claim", { override: isOthers() });
  }),
  undo: undoLast,
  unveil: () => { if (open) look(); },
  override: () => open.editor.submit(true),
  "cancel-edit": () => open.editor.leave(),
  back: () => { document.body.dataset.view = "queue"; },
};

function step(steps) {
  const key = queue.away(steps);
  if (key !== null && key !== open?.item.key) openCase(key);
}

function enter() {
  if (!open) return;
  document.body.dataset.view = "case";
  byId("case").focus();
}

function tick() {
  tellTimes();
  sweepToasts();
  if (open && ["approved", "rejected"].includes(open.item.state)) refreshActions();
}

function refreshActions() {
  const button = open.root.querySelector('.actions [data-do="undo"]');
  if (!button.hidden && !isUndoable(open.item)) refreshAround(open.root, open.item, me);
}

async function begin() {
  showTally();
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  me = await whoIsHere();
  greet(me);
  byId("login").hidden = true;
  byId("desk").hidden = false;
  byId("case").addEventListener("click", (event) => actions[event.target.closest("[data-do]")?.dataset.do]?.());
  listenToKeys({
    j: () => step(1), k: () => step(-1), Enter: enter, o: enter, b: actions.unveil, a: actions.approve, e: actions.edit,
    r: actions.reject, d: actions.redraft, u: actions.undo, c: actions.claim,
    "/": () => { document.body.dataset.view = "queue"; byId("search").focus(); },
    "?": () => byId("help").showModal(),
  });
  byId("search").addEventListener("keydown", (event) => {
    if (["Enter", "Escape"].includes(event.key)) { event.preventDefault(); byId("search").blur(); }
  });
  setInterval(tick, 1000);
  try {
    await queue.refresh();
    if (queue.shown.length) await openCase(queue.shown[0].key);
    else goOn(null);
  } catch (error) {
    explain(error);
  }
  follow({ change: changed, reload: () => { soon(); if (open) reread(open.item.key); }, up, down });
}

begin();
