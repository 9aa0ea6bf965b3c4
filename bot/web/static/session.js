// Log in and out. A token in the address comes after `#`, which is never sent, and is taken out at once.

import { offersToken } from "./address.js";
import { actAs, fetchLanguage, logIn, logOut, Refusal, whoAmI } from "./api.js";
import { byId, say } from "./dom.js";
import { lang, t } from "./language.js";
import { openSessions } from "./sessions.js";
import { warn } from "./status.js";

// An address with a token, opened where the desk already is, changes only the part after `#`.
addEventListener("hashchange", () => { if (offersToken()) location.reload(); });

/** Return who is logged in, asking for a token for as long as nobody is. */
export async function whoIsHere() {
  const said = new URLSearchParams(location.hash.slice(1));
  const offered = said.get("token");
  said.delete("token");
  if (offered !== null) history.replaceState(null, "", `${location.pathname}${said.size ? `#${said}` : ""}`);
  let who = null;
  if (offered) who = await tryToken(offered);
  if (!who) who = await whoAmI().catch(() => ({ name: null }));
  return who.name ? who : askForToken();
}

async function tryToken(token) {
  try {
    const who = await logIn(token);
    const { language } = await fetchLanguage(who.name);
    if ((language ?? lang) !== lang) location.reload();
    return who;
  } catch (error) {
    byId("login-error").textContent = error.message;
    return null;
  }
}

/** Show the login form until a token is taken; what is open behind it stays. */
export function askForToken() {
  byId("login").hidden = false;
  byId("desk").hidden = true;
  for (const menu of document.querySelectorAll("dialog:modal:not(#break)")) {
    menu.dispatchEvent(new Event("cancel"));
    menu.close();
  }
  byId("token").focus();
  return new Promise((resolve) => {
    byId("login-form").onsubmit = async (event) => {
      event.preventDefault();
      const field = byId("token");
      const who = await tryToken(field.value);
      field.value = "";
      if (!who) return field.focus();
      byId("login-error").textContent = "";
      byId("login").hidden = true;
      resolve(who);
    };
  });
}

/** Show who is here, and act under this name only. */
export function greet(who) {
  actAs(who.name);
  say(byId("me"), `${who.name}, ${{ reviewer: t("reviewer"), lead: t("lead"), admin: t("admin") }[who.role]}`);
  byId("sessions-open").hidden = false;
  byId("sessions-open").onclick = openSessions;
  byId("log-out").hidden = false;
  byId("log-out").onclick = async () => {
    try {
      await logOut();
    } catch (error) {
      if (!(error instanceof Refusal)) return warn(t("Not logged out: the server can't be reached."));
    }
    location.reload();
  };
}
