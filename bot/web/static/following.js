// What others do, and what happens to the connection: the list and the open case follow.

import { fetchCase, whoAmI } from "./api.js";
import { refreshAround } from "./case.js";
import { slot, say } from "./dom.js";
import { tellEscalations } from "./escalations.js";
import { here, queue } from "./here.js";
import { t } from "./language.js";
import { goOn, NARROW, put, tellWhatIsOpen } from "./opening.js";
import { changedElsewhere } from "./same.js";
import { isLive, showConnection, warn } from "./status.js";
import { toast } from "./toasts.js";
import { explain, logInAgain } from "./trouble.js";
import { ALARMING, standing, WAITING } from "./words.js";

const REFRESH_MS = 400;
let refreshing = null;

export function changed(change) {
  soon();
  changedElsewhere(change);
  if (change.to_state === ALARMING && change.from_state !== ALARMING && here.me.leads) tellEscalations([change]);
  if (change.case_key !== here.open?.item.key || change.version <= here.open.item.version) return;
  reread(change.case_key);
}

export async function reread(key) {
  try {
    const item = await fetchCase(key);
    if (here.open?.item.key === key && item.version >= here.open.item.version) refreshOpen(item);
  } catch (error) {
    explain(error);
  }
}

export function refreshOpen(item) {
  if (!here.open || here.open.item.key !== item.key) return;
  // What is the same is not built anew: whoever goes through it by Tab would be sent back to its start.
  if (!here.open.editor.open && item.version !== here.open.item.version) return put(item);
  here.open.item = item;
  here.open.editor.item = item;
  refreshAround(here.open.root, item, here.me);
  if (here.open.editor.open && item.state !== WAITING) {
    const words = t("This case is no longer open: {standing}. Your text is kept in this browser for a day.", { standing: standing(item) });
    say(slot(here.open.root, "notice"), words);
    toast(words);
  }
}

export function soon() {
  refreshing ??= setTimeout(async () => {
    refreshing = null;
    try {
      await queue.refresh();
      if (isLive()) warn("");
      if (!here.open && !here.left && !here.page && queue.cases.length && !NARROW.matches) goOn(queue.cases[0].key);
    } catch (error) {
      explain(error);
    }
  }, REFRESH_MS);
}

export async function down() {
  warn(t("The connection is lost. Nothing you wrote is lost; trying again…"));
  showConnection("away", t("connecting…"));
  const who = await whoAmI().catch(() => null);
  if (who && who.name !== here.me.name) logInAgain();
}

export function up() {
  warn("");
  showConnection("live", t("live"));
  tellWhatIsOpen();
  soon();
  if (here.open) reread(here.open.item.key);
}
