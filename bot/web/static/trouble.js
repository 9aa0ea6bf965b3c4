// What is said when something goes wrong, and the way back in when nobody or somebody else is logged in by now.

import { Offline, Refusal, whoAmI } from "./api.js";
import { byId } from "./dom.js";
import { here } from "./here.js";
import { t } from "./language.js";
import { askForToken, greet } from "./session.js";
import { warn } from "./status.js";
import { toast } from "./toasts.js";
import { standing } from "./words.js";

let afterLogin = () => {};

/** Call `act` when somebody whose session had ended is logged in again. */
export const whenBack = (act) => { afterLogin = act; };

export function explain(error, now) {
  if (error.isUnsure) toast(error.message, "bad");
  if (error instanceof Offline) return warn(t("The server can't be reached. Nothing you wrote is lost; trying again…"));
  if (!(error instanceof Refusal)) throw error;
  if (error.status === 401) return logInAgain();
  const mine = now?.decided_by && now.decided_by === here.me.name;
  toast(mine ? t("This was already {standing}, that is you.", { standing: standing(now) }) : error.message, "bad");
}

export async function logInAgain() {
  if (!byId("login").hidden) return;
  const { name } = await whoAmI().catch(() => ({ name: null }));
  if (name === here.me.name) return afterLogin(); // the refusal was of before one logged in again
  if (!byId("login").hidden) return;
  byId("login-error").textContent = name
    ? t("{name} has logged in with this browser. Log in to go on as {me}, or reload the page to go on as {name}; nothing you wrote is lost.", { name, me: here.me.name })
    : t("Your session has ended. Log in again; nothing you wrote is lost.");
  const who = await askForToken();
  if (who.name !== here.me.name) return location.reload();
  here.me = who;
  greet(here.me);
  byId("desk").hidden = false;
  afterLogin();
}
