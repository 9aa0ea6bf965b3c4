// The desk: what opens when, what a key or click does, and what is said when something goes wrong.

import { decide, fetchCase, Offline, Refusal, tellUncovered, tellViewing, whoAmI } from "./api.js";
import { readAddress, writeAddress } from "./address.js";
import { askForWords, askToApprove, askToAssign, askToRedraft, askToReject } from "./choices.js";
import { heldNote, sendNote, showAround, showViewing } from "./around.js";
import { isUndoable, mayUndo, refreshAround, showCase, unveil } from "./case.js";
import { byId, copyOf, say, slot } from "./dom.js";
import { Editor } from "./editor.js";
import { listenToEscalations, openEscalations, tellEscalation } from "./escalations.js";
import { offerSavedFilters } from "./filters.js";
import { livesOnPage, sweepKept } from "./kept.js";
import { listenToKeys } from "./keys.js";
import { follow, TAB } from "./live.js";
import { Selection } from "./many.js";
import { ask } from "./menus.js";
import { Queue } from "./queue.js";
import { changedElsewhere, decideOnSame } from "./same.js";
import { askForToken, greet, whoIsHere } from "./session.js";
import { isLive, showConnection, tellTimes, warn } from "./status.js";
import { countLook, hasLooked, showTally } from "./tally.js";
import { announce, dropUndoable, lastUndoable, sweepToasts, toast, toastUndoable } from "./toasts.js";
import { ALARMING, groupWord, holder, standing, WAITING } from "./words.js";

const REFRESH_MS = 400;
const NARROW = matchMedia("(max-width: 760px)");
const GLANCE_MS = 400; // a second press of the same key is not a yes to a case nobody has seen yet
const DONE = { approve: "Approved", edit: "Approved with your text", reject: "Rejected", dismiss: "Dismissed as not hateful" };
const DONE_LATER = {
  reopen: "Opened again; a draft is being written.", hand_over: "Handed over.", handle: "Marked as handled.",
  retract: "Retracted; the platform is told.", assign: "Assigned.",
};

const SENDING = ["approve", "edit"];

let me = { name: null, role: null };
let open = null; // {item, root, editor, shown, since} of the case on the page; null while another one loads
let left = null; // the case that was open before the one that loads now
let opening = 0;
let busy = false;
let refreshing = null;

const queue = new Queue(() => me.name, (key, byHand) => openCase(key, byHand));
queue.onError = explain;
queue.onChoice = () => { selection.clear(); showFilters(); remember(true); };
queue.onRender = () => selection.show();
queue.onRestart = () => goOn(queue.shown[0]?.key ?? null);

const selection = new Selection(queue);
let showFilters = () => {};

async function openCase(key, byHand = false, isStep = byHand) {
  const turn = ++opening;
  leave(key);
  if (byHand) document.body.dataset.view = "case";
  const slow = setTimeout(() => turn === opening && byId("case-body").replaceChildren(copyOf("loading-template")), 150);
  try {
    const item = await fetchCase(key);
    if (turn !== opening) return;
    put(item);
    remember(isStep);
    announce(`${subject(item)}, ${standing(item)}.`);
  } catch (error) {
    if (turn !== opening) return;
    comeBack(key);
    explain(error);
  } finally {
    clearTimeout(slow);
  }
}

/** From here until another case is on the page nothing can be decided: the one still to be seen is not open any more. */
function leave(key) {
  left = open ?? left;
  open = null;
  byId("case-body").inert = true;
  queue.awaitCase(key);
}

/** The other case could not be had: open the one that was left again. */
function comeBack(key) {
  if (left === null) return goOn(queue.shown.find((item) => item.key !== key)?.key ?? null);
  const { root } = left;
  [open, left] = [left, null];
  byId("case-body").replaceChildren(root);
  byId("case-body").inert = false;
  queue.select(open.item.key);
}

function put(item) {
  const before = open ?? left;
  const same = before?.item.key === item.key;
  const since = hasSameDraft(before, item) ? before.since : performance.now();
  const giveBack = heldNote(same && before.root);
  const root = showCase(item, me);
  giveBack(root);
  byId("case-body").inert = false;
  queue.select(item.key);
  left = null;
  const editor = new Editor(root, item, me, {
    send: (text, override) => act("edit", { text, override }, editor.item),
    close: () => byId("case").focus({ preventScroll: true }),
  });
  open = { item, root, editor, shown: false, since };
  editor.offer();
  if (same && before.shown) look(true);
  if (item.actions.includes("edit") && item.drafts.at(-1)?.origin === "none" && !item.doubtful) editor.start(false);
  if (!same) byId("case").scrollTop = 0;
  showAround(root, item).catch(() => {}); // said by the next request that fails, if the server is away
  tellWhatIsOpen();
  // The button that had the focus is gone; somebody who uses no mouse goes on from the case.
  if (document.activeElement === document.body && !NARROW.matches) byId("case").focus({ preventScroll: true });
  tick();
}

/** Put the open case and the filters into the address; with `isStep` Back returns from here. */
function remember(isStep) {
  writeAddress({ ...queue.choices, case: open?.item.key ?? "" }, document.body.dataset.view, isStep);
}

/** Show what the address says, after Back or on a link. */
async function goToAddress() {
  if (!me.name || location.hash.startsWith("#token=")) return;
  const place = readAddress();
  document.body.dataset.view = history.state?.view ?? (place.case ? "case" : "queue");
  try {
    if (queue.choose(place)) await queue.search();
    if (place.case && place.case !== open?.item.key) await openCase(place.case, false, false);
  } catch (error) {
    explain(error);
  }
}

/** Say in a few words which case this is. */
const subject = (item) => (item.triage?.groups.length ? `post against ${groupWord(item.triage.groups[0].group)}` : `post on ${item.post.platform}`);

const hasSameDraft = (before, item) => before?.item.key === item.key && before.item.drafts.length === item.drafts.length;
const isOthers = () => ![null, me.name].includes(holder(open.item));

/** Tell the server which case is on this page; without a stream of changes it is told once there is one. */
function tellWhatIsOpen() {
  if (isLive()) tellViewing(TAB, open?.item.key ?? null).catch(() => {});
}

function goOn(key) {
  if (key !== null) return openCase(key);
  opening++;
  [open, left] = [null, null];
  byId("case-body").inert = false;
  queue.select(null);
  document.body.dataset.view = "queue";
  remember(false);
  tellWhatIsOpen();
  const empty = copyOf("empty-template");
  const { title, words } = queue.emptyWords();
  empty.querySelector("h2").textContent = title;
  empty.querySelector(".empty-words").textContent = words;
  byId("case-body").replaceChildren(empty);
  announce(title);
}

function look(shown = !open.shown) {
  open.shown = shown;
  unveil(open.root, open.item, shown);
  if (!shown) return;
  if ("recordUncovering" in document.body.dataset) tellUncovered(open.item.key).catch(() => {});
  countLook(open.item.key);
}

// --- decisions -----------------------------------------------------------------------------------------------------

/** Decide on `item`, the case as it was when the moderator chose to; refused when another one is on the page by now. */
async function act(action, rest = {}, item = open?.item) {
  if (!item || busy) return;
  if (open?.item.key !== item.key) return toast("Another case is open now; nothing was decided.", "bad");
  if (SENDING.includes(action) && !await isSure(item)) return;
  if (open?.item.key !== item.key) return;
  const { editor } = open;
  busy = true;
  try {
    const uncovered = SENDING.includes(action) ? hasLooked(item.key) : null;
    const after = await decide(item.key, { action, version: item.version, uncovered, ...rest });
    warn("");
    if (DONE[action]) editor.forget();
    await done(action, after);
  } catch (error) {
    await refused(error, action, item.key);
  } finally {
    busy = false;
  }
}

/** Where the operator wishes it, ask before a reply goes out whose post nobody looked at. */
async function isSure(item) {
  if (!("confirmCovered" in document.body.dataset) || hasLooked(item.key)) return true;
  const answer = await ask("covered");
  if (answer?.choice === "look" && open?.item.key === item.key) look(true);
  return answer?.choice === "send";
}

/** Whether the case that was just decided, or refused, is still the one on the page. */
const isOpen = (key) => open?.item.key === key;

async function done(action, after) {
  if (DONE[action]) {
    toastUndoable(`${DONE[action]}: ${subject(after)}`, { key: after.key, version: after.version, until: after.release_at }, undo);
    tick();
    return moveOn(after);
  }
  if (action === "redraft") {
    toast("A draft is being written; the case comes back to those that wait with it.");
    return moveOn(after);
  }
  refreshOpen(after);
  if (DONE_LATER[action]) toast(DONE_LATER[action], "good");
  if (action === "claim") toast("The case is yours.", "good");
  if (action === "release") toast("The case is free again.");
  soon();
}

/** Go on to the next case, unless the moderator has gone to another one meanwhile. */
async function moveOn(after) {
  soon();
  if (!queue.waiting) return isOpen(after.key) ? put(after) : undefined;
  const turn = opening;
  const next = await queue.takeOff(after.key);
  return isOpen(after.key) && turn === opening ? goOn(next) : undefined;
}

async function undo(item) {
  try {
    const after = await decide(item.key, { action: "undo", version: item.version });
    dropUndoable(item.key);
    toast("Taken back; the case waits for you again.", "good");
    await queue.refresh();
    opening++;
    put(after);
  } catch (error) {
    if (error instanceof Refusal) dropUndoable(item.key);
    await refused(error, "undo", item.key);
  }
}

function undoLast() {
  if (left) return; // another case is loading
  if (open && mayUndo(open.item)) return undo(open.item);
  const item = lastUndoable();
  if (item) item.undo(item);
  else toast("There is nothing that can still be undone.");
}

async function refused(error, action, key) {
  if (error instanceof Refusal && error.status === 422 && isOpen(key)) {
    open.editor.start();
    open.editor.verdict(error.answer.checks ?? [], error.message);
    return announce(error.message);
  }
  explain(error, error.answer?.case);
  if (error instanceof Refusal && ![409, 404].includes(error.status)) return;
  soon();
  if (isOpen(key) && action !== "undo") await reread(key);
}

function explain(error, now) {
  if (error instanceof Offline) return warn("The server can't be reached. Nothing you wrote is lost; trying again…");
  if (!(error instanceof Refusal)) throw error;
  if (error.status === 401) return logInAgain();
  const mine = now?.decided_by && now.decided_by === me.name;
  toast(mine ? `This was already ${standing(now)}, that is you.` : error.message, "bad");
}

async function logInAgain() {
  if (!byId("login").hidden) return;
  const who = await askForToken();
  if (who.name !== me.name) return location.reload();
  me = who;
  greet(me);
  byId("desk").hidden = false;
  soon();
}

// --- what others do ------------------------------------------------------------------------------------------------

function changed(change) {
  soon();
  changedElsewhere(change);
  if (change.to_state === ALARMING && change.from_state !== ALARMING && me.role !== "reviewer") tellEscalation(change);
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
  // What is the same is not built anew: whoever goes through it by Tab would be sent back to its start.
  if (!open.editor.open && item.version !== open.item.version) return put(item);
  open.item = item;
  open.editor.item = item;
  refreshAround(open.root, item, me);
  if (open.editor.open && item.state !== WAITING) {
    const words = `This case is no longer open: ${standing(item)}. Your text is kept in this browser for a day.`;
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
      if (!open && !left && queue.shown.length && !NARROW.matches) goOn(queue.shown[0].key);
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
  tellWhatIsOpen();
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
  approve: offered("approve", () => (open.editor.open ? open.editor.start() : askToApprove(open, act))),
  edit: offered("edit", () => open.editor.start()),
  reject: () => (selection.keys.size ? decideOnSelected("reject") : offered("reject", () => askToReject(open.item, act))()),
  dismiss: offered("dismiss", () => act("dismiss")),
  draft: offered("draft", () => act("redraft")),
  reopen: offered("reopen", () => act("reopen")),
  ...Object.fromEntries(["hand_over", "retract", "handle"].map((name) => [name, offered(name, () => askForWords(name, open.item, act))])),
  assign: () => {
    if (selection.keys.size) return decideOnSelected("assign");
    if (open?.item.actions.includes("assign")) askToAssign(open.item, act);
  },
  same: () => { if (open) decideSame(open.item); },
  note: () => { if (open) addNoteTo(open); },
  redraft: offered("redraft", () => askToRedraft(open.item, act)),
  claim: offered("claim", () => {
    if (holder(open.item) === me.name) act("release");
    else act("claim", { override: isOthers() });
  }),
  undo: undoLast,
  unveil: () => { if (open) look(); },
  send: () => open?.editor.submit(false),
  override: () => open?.editor.submit(true),
  "cancel-edit": () => open?.editor.leave(),
  back: () => { document.body.dataset.view = "queue"; remember(true); },
  discard: () => open?.editor.forget(),
};

/** Decide on what is selected, and go on where the open case was among it. */
async function decideOnSelected(action) {
  await afterMany(() => selection.decide(action));
}

async function decideSame(item) {
  if (open.root.querySelector('[data-slot="same-open"]').hidden) return;
  await afterMany(() => decideOnSame(item, me, { mayApprove: () => isSure(item), uncovered: () => hasLooked(item.key) }));
}

async function afterMany(decideThem) {
  try {
    const results = await decideThem();
    if (!results) return;
    tick();
    soon();
    const key = open?.item.key;
    const isGone = results.done.some((result) => result.key === key && result.state !== WAITING);
    if (isGone) await goOn(await queue.takeOff(key));
  } catch (error) {
    explain(error);
  }
}

async function addNoteTo({ root, item }) {
  try {
    const after = await sendNote(root, item, me);
    if (!after) return;
    refreshOpen(after);
    byId("case").focus({ preventScroll: true });
  } catch (error) {
    explain(error);
  }
}

async function step(steps) {
  try {
    const key = await queue.away(steps);
    if (key !== null && key !== open?.item.key) await openCase(key, false, true);
  } catch (error) {
    explain(error);
  }
}

/** Select the open case and the one next to it, and go there. */
async function extend(steps) {
  if (!open) return;
  selection.put(open.item.key, true);
  await step(steps);
  if (open) selection.put(open.item.key, true);
}

function enter() {
  if (!open) return;
  document.body.dataset.view = "case";
  remember(true);
  byId("case").focus();
}

function tick() {
  tellTimes();
  sweepToasts();
  if (open) endUndo(open.item);
}

/** Take the countdown and the button away once the time to undo is over. */
function endUndo(item) {
  if (!item.undoable || isUndoable(item)) return;
  item.undoable = false;
  refreshAround(open.root, item, me);
}

async function begin() {
  showTally();
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  me = await whoIsHere();
  greet(me);
  byId("login").hidden = true;
  byId("desk").hidden = false;
  byId("case").addEventListener("click", (event) => {
    const { open: key } = event.target.closest("[data-open]")?.dataset ?? {};
    if (key) openCase(key, true);
    else actions[event.target.closest("[data-do]")?.dataset.do]?.();
  });
  byId("selection").addEventListener("click", (event) => {
    const choice = event.target.closest("[data-many]")?.dataset.many;
    if (choice === "clear") selection.clear();
    else if (choice) decideOnSelected(choice);
  });
  showFilters = offerSavedFilters(me.name, queue, async (choices) => {
    if (!queue.choose(choices)) return;
    queue.onChoice();
    await queue.restart().catch(explain);
  });
  listenToKeys({
    j: () => step(1), k: () => step(-1), Enter: enter, o: enter, b: actions.unveil, a: actions.approve, e: actions.edit,
    r: actions.reject, n: actions.dismiss, d: () => { actions.reopen(); (open?.item.doubtful ? actions.draft : actions.redraft)(); },
    h: actions.hand_over, m: actions.handle, t: actions.retract, s: actions.assign, v: actions.same,
    w: () => open && byId("note-text").focus(), x: () => selection.toggle(open?.item.key),
    J: () => extend(1), K: () => extend(-1), Escape: () => selection.clear(),
    u: actions.undo, c: actions.claim, g: openEscalations,
    "/": () => { document.body.dataset.view = "queue"; byId("search").focus(); },
    "?": () => byId("help").showModal(),
  });
  byId("search").addEventListener("keydown", (event) => {
    if (["Enter", "Escape"].includes(event.key)) { event.preventDefault(); byId("search").blur(); }
  });
  listenToEscalations((keys) => {
    if (keys.length === 1) openCase(keys[0], true);
    else queue.showEscalated().catch(explain);
  });
  setInterval(tick, 1000);
  sweepKept();
  addEventListener("popstate", goToAddress);
  addEventListener("beforeunload", (event) => { if (livesOnPage()) event.preventDefault(); });
  const place = readAddress();
  queue.choose(place);
  showFilters();
  try {
    await queue.refresh();
    const key = place.case || queue.shown[0]?.key;
    if (key) await openCase(key, Boolean(place.case), false);
    else goOn(null);
  } catch (error) {
    explain(error);
  }
  follow({ viewing: ({ case_key, names }) => { if (isOpen(case_key)) showViewing(open.root, names, me); }, change: changed, reload: () => { soon(); if (open) reread(open.item.key); }, up, down });
}

begin();
