// Decisions: on the case that is open, on those that are selected, and taking them back.

import { decide, Refusal } from "./api.js";
import { forgetNote, sendNote } from "./around.js";
import { mayUndo } from "./case.js";
import { byId, slot } from "./dom.js";
import { refreshOpen, reread, soon } from "./following.js";
import { here, isOpen, queue, subject } from "./here.js";
import { bringBack, keptText, putAway } from "./kept.js";
import { isWritingSince } from "./keys.js";
import { t } from "./language.js";
import { Selection } from "./many.js";
import { ask, placeOfWords } from "./menus.js";
import { goOn, look, put, remember, tick } from "./opening.js";
import { decideOnSame } from "./same.js";
import { warn } from "./status.js";
import { hasLooked } from "./tally.js";
import { announce, dropUndoable, lastUndoable, toast, toastUndoable, toastWhile } from "./toasts.js";
import { explain } from "./trouble.js";
import { WAITING } from "./words.js";

const DONE = { approve: t("Approved"), edit: t("Approved with your text"), reject: t("Rejected"), dismiss: t("Dismissed as not hateful") };
const DONE_LATER = {
  reopen: t("Opened again; a draft is being written."), hand_over: t("Handed over."), handle: t("Marked as handled."),
  retract: t("Retracted; the platform is told."), assign: t("Assigned."), claim: t("The case is yours."),
  release: t("The case is free again."),
};
const SENDING = ["approve", "edit"];
let busy = false;

export const selection = new Selection(queue);

/** Decide on `item`, the case as it was when the moderator chose; refused if another one is shown by now. */
export async function act(action, rest = {}, item = here.open?.item) {
  if (!item) return;
  if (busy) return toast(t("Your last decision is still being sent; this one was not taken."), "bad");
  if (here.open?.item.key !== item.key) return toast(t("Another case is open now; nothing was decided."), "bad");
  if (SENDING.includes(action) && !await isSure(item)) return;
  if (here.open?.item.key !== item.key) return;
  const own = here.open.editor.unsent;
  const asked = performance.now();
  busy = true;
  try {
    const uncovered = SENDING.includes(action) ? hasLooked(item.key) : null;
    const after = await send(item.key, { action, version: item.version, uncovered, ...rest }).finally(() => { busy = false; });
    warn("");
    if (DONE[action] && keptText(here.me.name, item.key)?.text === own) putAway(here.me.name, item.key, after.release_at);
    putAway(here.me.name, placeOfWords(action, item.key), DONE[action] && after.release_at);
    await done(action, after, asked);
  } catch (error) {
    await refused(error, action, item.key, asked);
  }
}

const send = (key, decision) => toastWhile(decide(key, decision), t("Your decision is being sent…"));

/** Where the operator wishes it, ask before a reply goes out whose post nobody looked at. */
async function isSure(item) {
  if (!("confirmCovered" in document.body.dataset) || hasLooked(item.key)) return true;
  const answer = await ask("covered");
  if (answer?.choice === "look" && here.open?.item.key === item.key) look(true);
  return answer?.choice === "send";
}

async function done(action, after, asked) {
  if (DONE[action]) {
    toastUndoable(`${DONE[action]}: ${subject(after)}`, { key: after.key, version: after.version, until: after.release_at }, undo);
    tick();
    return moveOn(after, asked);
  }
  if (action === "redraft") {
    toast(t("A draft is being written; the case comes back to those that wait with it."));
    return moveOn(after, asked);
  }
  refreshOpen(after);
  if (DONE_LATER[action]) toast(DONE_LATER[action], "good");
  soon();
}

/** Go on to the next case, unless the moderator has gone to another one meanwhile or writes in this one. */
async function moveOn(after, asked) {
  soon();
  const turn = here.turn;
  const next = queue.waiting && await queue.takeOff(after.key);
  if (!isOpen(after.key) || turn !== here.turn) return undefined;
  if (isWritingSince(asked)) return refreshOpen(after);
  return queue.waiting ? goOn(next) : put(after);
}

async function undo(item) {
  const asked = performance.now();
  try {
    const after = await send(item.key, { action: "undo", version: item.version });
    dropUndoable(item.key);
    bringBack(here.me.name, item.key);
    toast(t("Taken back; the case waits for you again."), "good");
    await queue.refresh();
    if (isWritingSince(asked)) return refreshOpen(after);
    here.turn++;
    put(after);
    remember(true);
  } catch (error) {
    if (error instanceof Refusal) dropUndoable(item.key);
    await refused(error, "undo", item.key, asked);
  }
}

export function undoLast() {
  if (here.left) return; // another case is loading
  if (here.open && mayUndo(here.open.item)) return undo(here.open.item);
  const item = lastUndoable();
  if (item) item.undo(item);
  else toast(t("There is nothing that can still be undone."));
}

async function refused(error, action, key, asked) {
  if (error instanceof Refusal && error.status === 422 && isOpen(key)) {
    here.open.editor.start(!isWritingSince(asked));
    here.open.editor.verdict(error.answer.checks ?? [], error.message);
    return announce(error.message);
  }
  explain(error, error.answer?.case);
  if (error instanceof Refusal && ![409, 404].includes(error.status)) return;
  soon();
  if (isOpen(key) && action !== "undo") await reread(key);
}

/** Decide on what is selected, and go on where the open case was among it. */
export async function decideOnSelected(action) {
  await afterMany(() => selection.decide(action));
}

export async function decideSame(item) {
  if (here.open.root.querySelector('[data-slot="same-open"]').hidden) return;
  await afterMany(() => decideOnSame(item, here.me, { mayApprove: () => isSure(item), uncovered: () => hasLooked(item.key) }));
}

async function afterMany(decideThem) {
  const asked = performance.now();
  try {
    const results = await decideThem();
    if (!results) return;
    tick();
    soon();
    const key = here.open?.item.key;
    const isGone = results.done.some((result) => result.key === key && result.state !== WAITING);
    if (!isGone) return;
    const next = await queue.takeOff(key);
    await (isWritingSince(asked) ? reread(key) : goOn(next));
  } catch (error) {
    explain(error);
  }
}

let isNoting = false;

export async function addNoteTo({ root, item }) {
  if (isNoting) return;
  isNoting = true;
  const asked = performance.now();
  try {
    const sent = await sendNote(root, item);
    if (!sent) return;
    forgetNote(isOpen(item.key) ? here.open.root : null, item, here.me, sent.text);
    if (!isOpen(item.key)) return;
    refreshOpen(sent.after);
    const field = slot(here.open.root, "note-form").querySelector("textarea");
    if (document.activeElement === field && !field.value && !isWritingSince(asked)) byId("case").focus({ preventScroll: true });
  } catch (error) {
    explain(error);
  } finally {
    isNoting = false;
  }
}
