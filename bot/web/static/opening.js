// What opens when: one case at a time, the address that names it, and the page without one.

import { showParts } from "./about.js";
import { writeAddress } from "./address.js";
import { fetchCase, tellUncovered, tellViewing } from "./api.js";
import { heldNote, showAround } from "./around.js";
import { mayLook, tickCare } from "./care.js";
import { awaitsDraft, fillEvidence, isUndoable, refreshAround, showCase, unveil } from "./case.js";
import { byId, copyOf } from "./dom.js";
import { Editor } from "./editor.js";
import { here, queue, subject } from "./here.js";
import { sweepKept } from "./kept.js";
import { TAB } from "./live.js";
import { isLive, tellTimes } from "./status.js";
import { countLook } from "./tally.js";
import { announce, sweepToasts } from "./toasts.js";
import { explain } from "./trouble.js";
import { standing } from "./words.js";

export const NARROW = matchMedia("(max-width: 760px)");

let send = () => {};

/** Call `act(text, override, item)` when a text is sent from a case's editor. */
export const whenSent = (act) => { send = act; };

export async function openCase(key, byHand = false, isStep = byHand) {
  const turn = ++here.turn;
  leave(key);
  if (byHand) document.body.dataset.view = "case";
  const slow = setTimeout(() => turn === here.turn && byId("case-body").replaceChildren(copyOf("loading-template")), 150);
  try {
    const item = await fetchCase(key);
    if (turn !== here.turn) return;
    put(item);
    remember(isStep);
    announce(`${subject(item)}, ${standing(item)}.`);
  } catch (error) {
    if (turn !== here.turn) return;
    comeBack(key);
    explain(error);
  } finally {
    clearTimeout(slow);
  }
}

/** Let nothing be decided until another case is shown: the one still visible is not open any more. */
function leave(key) {
  here.left = here.open ?? here.left;
  here.open = null;
  here.page = null;
  byId("case-body").inert = true;
  queue.awaitCase(key);
}

/** The other case could not be had: open the one that was left again. */
function comeBack(key) {
  if (here.left === null) return goOn(queue.cases.find((item) => item.key !== key)?.key ?? null);
  const { root } = here.left;
  [here.open, here.left] = [here.left, null];
  byId("case-body").replaceChildren(root);
  byId("case-body").inert = false;
  queue.select(here.open.item.key);
}

export function put(item) {
  const before = here.open ?? here.left;
  const same = before?.item.key === item.key;
  const since = hasSameDraft(before?.drawn, item) ? before.since : performance.now();
  const giveBack = heldNote(same && before.root);
  const root = showCase(item, here.me);
  giveBack(root);
  byId("case-body").inert = false;
  queue.select(item.key);
  here.left = null;
  showsNow(null);
  const editor = new Editor(root, item, here.me, {
    send: (text, override) => send(text, override, editor.item),
    close: closeEditor,
  });
  here.open = { item, drawn: item, root, editor, shown: false, since };
  editor.offer();
  if (same && before.shown) uncover(true);
  if (item.actions.includes("edit") && item.drafts.at(-1)?.origin === "none" && !awaitsDraft(item)) editor.start(false);
  if (!same) byId("case").scrollTop = 0;
  showAround(root, item).catch(() => {}); // said by the next request that fails, if the server is away
  tellWhatIsOpen();
  // The button that had the focus is gone; somebody who uses no mouse goes on from the case.
  if (document.activeElement === document.body && !NARROW.matches) byId("case").focus({ preventScroll: true });
  tick();
}

/** Note what is shown instead of a case, null for a case; the tour does not outlive its own page. */
function showsNow(page) {
  here.page = page;
  if (page !== "tour") byId("tour").close();
}

/** Put the open case and the filters into the address; with `isStep` Back returns from here. */
export function remember(isStep) {
  writeAddress({ ...queue.choices, case: here.open?.item.key ?? "", page: here.page === "today" ? here.page : "" }, document.body.dataset.view, isStep);
}

/** Give the keys back to the case; where it has changed while somebody wrote, show the draft that it has now. */
function closeEditor() {
  const { item, drawn } = here.open;
  if (!hasSameDraft(drawn, item) || drawn.state !== item.state) put(item);
  byId("case").focus({ preventScroll: true });
}

const hasSameDraft = (drawn, item) => drawn?.key === item.key && drawn.drafts.length === item.drafts.length;

/** Tell the server which case is on this page; without a stream of changes it is told once there is one. */
export function tellWhatIsOpen() {
  if (isLive()) tellViewing(TAB, here.open?.item.key ?? null).catch(() => {});
}

export function goOn(key) {
  if (key !== null) return openCase(key);
  const empty = copyOf(queue.isNew ? "first-template" : "empty-template");
  const { title, words } = queue.emptyWords();
  empty.querySelector("h2").textContent = title;
  empty.querySelector(".empty-words").textContent = words;
  showPage(null, empty, false, "queue");
  announce(title);
  if (queue.isNew) showParts(byId("case-body")).catch(explain);
}

/** Show `root` where a case would stand; with `isStep` Back returns from it. */
export function showPage(name, root, isStep = false, view = "case") {
  here.turn++;
  [here.open, here.left] = [null, null];
  showsNow(name);
  byId("case-body").inert = false;
  byId("case-body").replaceChildren(root);
  byId("case").scrollTop = 0;
  queue.select(null);
  document.body.dataset.view = view;
  remember(isStep);
  tellWhatIsOpen();
}

/** Show the case with evidence that was added to it; a text being written stays. */
export function refreshEvidence(item) {
  if (!here.open.editor.open) return put(item);
  here.open.item = item;
  here.open.editor.item = item;
  refreshAround(here.open.root, item, here.me);
  fillEvidence(here.open.root, item);
  here.open.editor.check();
}

/** Show the post, or hide it again; beyond the limit that one has set oneself, one is asked first. */
export async function look(shown = !here.open.shown) {
  const { open } = here;
  if (shown && !open.shown && !await mayLook(open.item.key)) return;
  if (here.open === open) uncover(shown);
}

function uncover(shown) {
  here.open.shown = shown;
  unveil(here.open.root, here.open.item, shown);
  if (!shown) return;
  if ("recordUncovering" in document.body.dataset) tellUncovered(here.open.item.key).catch(() => {});
  countLook(here.open.item.key);
}

export function tick() {
  tellTimes();
  tickCare();
  sweepToasts();
  sweepKept();
  if (here.open) endUndo(here.open.item);
}

/** Take the countdown and the button away once the time to undo is over. */
function endUndo(item) {
  if (!item.undoable || isUndoable(item)) return;
  item.undoable = false;
  refreshAround(here.open.root, item, here.me);
}
