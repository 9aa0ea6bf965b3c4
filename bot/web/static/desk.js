// The desk: how it begins, and what each key and each click does.

import { offersToken, readAddress } from "./address.js";
import { showViewing } from "./around.js";
import { applyCare, careOf, notNow, takeBreak } from "./care.js";
import { askForWords, askToApprove, askToAssign, askToRedraft, askToReject, offerModerators } from "./choices.js";
import { awaitsDraft } from "./case.js";
import { act, addNoteTo, decideOnSelected, decideSame, selection, undoLast } from "./deciding.js";
import { byId } from "./dom.js";
import { listenToEscalations, openEscalations, tellEscalations } from "./escalations.js";
import { offerSavedFilters } from "./filters.js";
import { openEvidenceSearch } from "./find_evidence.js";
import { changed, down, reread, soon, up } from "./following.js";
import { here, isOpen, queue } from "./here.js";
import { livesOnPage } from "./kept.js";
import { listenToKeys } from "./keys.js";
import { follow } from "./live.js";
import { goOn, look, openCase, remember, tick, whenSent } from "./opening.js";
import { openSettings } from "./own_settings.js";
import { greet, whoIsHere } from "./session.js";
import { showTally } from "./tally.js";
import { openToday, refreshToday } from "./today.js";
import { startTour } from "./tour.js";
import { explain, whenBack } from "./trouble.js";
import { holder } from "./words.js";

const GLANCE_MS = 400; // a second press of the same key is not a yes to a case nobody has seen yet
const UNSEEN_MS = 60000; // a page that nobody sees has no line: a lead's asks, for the title

let showFilters = () => {};

queue.onOpen = (key, byHand) => openCase(key, byHand);
queue.onError = explain;
const followChoice = () => { selection.clear(); showFilters(); };
queue.onChoice = () => { followChoice(); remember(true); };
queue.onRender = () => { selection.show(); refreshToday().catch(explain); };
queue.onRestart = () => goOn(queue.cases[0]?.key ?? null);
whenSent((text, override, item) => act("edit", { text, override }, item));
whenBack(() => { soon(); if (here.open?.editor.open) here.open.editor.check(); });

/** Run `action` when the open case has a visible button for it. */
function offered(name, action) {
  return () => {
    if (!here.open || performance.now() - here.open.since < GLANCE_MS) return;
    if (here.open.root.querySelector(`.actions [data-do="${name}"]:not([hidden])`)) action();
  };
}

const isOthers = () => ![null, here.me.name].includes(holder(here.open.item));

const actions = {
  approve: offered("approve", () => (here.open.editor.open ? here.open.editor.start() : askToApprove(here.open, act))),
  edit: offered("edit", () => here.open.editor.start()),
  reject: () => (selection.keys.size ? decideOnSelected("reject") : offered("reject", () => askToReject(here.open.item, act))()),
  dismiss: offered("dismiss", () => act("dismiss")),
  draft: offered("draft", () => act("redraft")),
  reopen: offered("reopen", () => act("reopen")),
  ...Object.fromEntries(["hand_over", "retract", "handle"].map((name) => [name, offered(name, () => askForWords(name, here.open.item, act))])),
  assign: () => {
    if (selection.keys.size) return decideOnSelected("assign");
    if (here.open?.item.actions.includes("assign")) askToAssign(here.open.item, act);
  },
  same: () => { if (here.open) decideSame(here.open.item); },
  note: () => { if (here.open) addNoteTo(here.open); },
  redraft: offered("redraft", () => askToRedraft(here.open.item, act)),
  claim: offered("claim", () => {
    if (holder(here.open.item) === here.me.name) act("release");
    else act("claim", { override: isOthers() });
  }),
  undo: undoLast,
  unveil: () => { if (here.open) look(); },
  send: () => here.open?.editor.submit(false),
  override: () => here.open?.editor.submit(true),
  "cancel-edit": () => here.open?.editor.leave(),
  back: () => { document.body.dataset.view = "queue"; queue.showMarked(); remember(true); },
  discard: () => here.open?.editor.forget(),
  find: () => { if (here.open) openEvidenceSearch(); },
  today: () => openToday(),
  previous: () => step(-1),
  next: () => step(1),
  tour: startTour,
};

async function step(steps) {
  try {
    const key = await queue.away(steps);
    if (key !== null && key !== here.open?.item.key) await openCase(key, false, true);
  } catch (error) {
    explain(error);
  }
}

/** Select the open case and the one next to it, and go there. */
async function extend(steps) {
  if (!here.open) return;
  selection.put(here.open.item.key, true);
  await step(steps);
  if (here.open) selection.put(here.open.item.key, true);
}

function enter() {
  if (!here.open) return;
  document.body.dataset.view = "case";
  remember(true);
  byId("case").focus();
}

/** Show what the address says, after Back or on a link. */
async function goToAddress() {
  if (!here.me.name || offersToken()) return;
  const place = readAddress();
  document.body.dataset.view = history.state?.view ?? (place.case ? "case" : "queue");
  try {
    if (queue.choose(place)) {
      followChoice(); // and no step of its own: Forward leads on from here
      await queue.readAnew();
    }
    if (place.page && place.page !== here.page) return openToday(false);
    if (place.case && place.case !== here.open?.item.key) await openCase(place.case, false, false);
  } catch (error) {
    explain(error);
  }
}

function tourFromHelp() {
  byId("help").close();
  startTour();
}

async function begin() {
  for (const [id, act] of Object.entries({ "today-open": openToday, "settings-open": openSettings, "break-open": takeBreak, "tour-open": tourFromHelp })) {
    byId(id).addEventListener("click", () => act());
  }
  byId("worked").addEventListener("click", (event) => {
    const choice = event.target.closest("[data-worked]")?.dataset.worked;
    if (choice === "rest") takeBreak();
    else if (choice === "later") notNow();
  });
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  here.me = await whoIsHere();
  greet(here.me);
  showTally();
  applyCare(careOf(here.me.name));
  offerModerators().catch(explain);
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
  showFilters = offerSavedFilters(here.me.name, queue, async (choices) => {
    if (!queue.choose(choices)) return;
    queue.onChoice();
    await queue.restart().catch(explain);
  });
  listenToKeys({
    j: () => step(1), k: () => step(-1), Enter: enter, o: enter, b: actions.unveil, a: actions.approve, e: actions.edit,
    r: actions.reject, n: actions.dismiss, d: () => { actions.reopen(); (here.open && awaitsDraft(here.open.item) ? actions.draft : actions.redraft)(); },
    h: actions.hand_over, m: actions.handle, t: actions.retract, s: actions.assign, v: actions.same,
    w: () => here.open && byId("note-text").focus(), x: () => selection.toggle(here.open?.item.key),
    J: () => extend(1), K: () => extend(-1), Escape: () => selection.clear(),
    u: actions.undo, c: actions.claim, f: actions.find, y: actions.today, p: takeBreak, g: openEscalations,
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
  addEventListener("popstate", goToAddress);
  addEventListener("beforeunload", (event) => { if (livesOnPage()) event.preventDefault(); });
  const place = readAddress();
  queue.choose(place);
  showFilters();
  try {
    await queue.refresh();
    const key = place.case || queue.cases[0]?.key;
    if (place.page) await openToday(false);
    else if (key) await openCase(key, Boolean(place.case), false);
    else goOn(null);
  } catch (error) {
    explain(error);
  }
  if (here.me.leads) setInterval(() => { if (document.hidden) queue.refresh().catch(() => {}); }, UNSEEN_MS);
  follow({ missed: tellEscalations, viewing: ({ case_key, names }) => { if (isOpen(case_key)) showViewing(here.open.root, names, here.me); }, change: changed, reload: () => { soon(); if (here.open) reread(here.open.item.key); }, up, down });
}

begin();
