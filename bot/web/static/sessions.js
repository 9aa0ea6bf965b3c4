// Which browsers are logged in, and how to log one out from here.

import { endSession, listSessions } from "./api.js";
import { byId, make } from "./dom.js";
import { t } from "./language.js";
import { age } from "./words.js";

/** Show the sessions: one's own, and to leads everybody's. */
export async function openSessions() {
  const dialog = byId("sessions");
  if (!dialog.open) dialog.showModal();
  const error = dialog.querySelector(".error");
  const list = dialog.querySelector("ul");
  error.textContent = "";
  list.replaceChildren();
  try {
    const { sessions } = await listSessions();
    list.replaceChildren(...sessions.map((session) => line(session, error)));
  } catch (refused) {
    error.textContent = refused.message;
  }
}

function line(session, error) {
  const words = make("span", { dir: "auto", text: t("{who}, logged in {age}", { who: session.who, age: age(session.opened_at) }) });
  const browser = make("span", { class: "aside", dir: "auto", text: session.this ? t("this browser") : shortened(session.browser) });
  if (session.this) return make("li", {}, words, browser);
  const end = make("button", { type: "button", text: t("Log out"), "aria-label": t("Log out {who}, {browser}", { who: session.who, browser: shortened(session.browser) }) });
  end.addEventListener("click", async () => {
    try {
      await endSession(session.id);
      await openSessions();
    } catch (refused) {
      error.textContent = refused.message;
    }
  });
  return make("li", {}, words, browser, end);
}

const shortened = (browser) => (browser.length > 80 ? `${browser.slice(0, 80)}…` : browser || t("a browser without a name"));
