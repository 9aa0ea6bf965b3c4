// The menus: a number chooses and sends; where there is a field for words, they can be typed first.

import { byId, make } from "./dom.js";
import { here } from "./here.js";
import { keepText, keptText } from "./kept.js";
import { t } from "./language.js";

/**
 * Open a menu and resolve with {choice, words, way}, or null when it is closed. `needsWords(choice)` asks for words;
 * `title` and `list` say what it is about, where that is more than the open case. Under `place` the words are kept.
 */
export function ask(id, { needsWords = () => false, current = null, title = null, list = [], place = null } = {}) {
  const dialog = byId(id);
  const words = dialog.querySelector("input");
  const way = dialog.querySelector("select");
  const error = dialog.querySelector(".error");
  const buttons = [...dialog.querySelectorAll("[data-choice]")];
  if (words) words.value = place && keptText(here.me.name, place)?.text || "";
  if (way) way.value = "";
  error.textContent = "";
  describe(dialog, title, list);
  buttons.forEach((button) => button.toggleAttribute("data-current", button.dataset.choice === current));
  dialog.showModal();
  // Enter must not choose what nobody chose: where nothing is chosen yet, no button has the focus.
  const start = current === "yes" ? words : buttons.find((button) => button.dataset.choice === current) ?? dialog.querySelector("h2");
  start.focus();

  return new Promise((resolve) => {
    const over = new AbortController();
    const finish = (answer) => { over.abort(); dialog.close(); resolve(answer); };
    const choose = (button) => {
      if (needsWords(button.dataset.choice) && !words.value.trim()) {
        error.textContent = t("Say in a few words why, then choose it again or press Enter.");
        words.dataset.for = button.dataset.choice;
        words.focus();
        return;
      }
      finish({ choice: button.dataset.choice, words: words?.value.trim() ?? "", way: way?.value || null });
    };
    delete words?.dataset.for;
    const { signal } = over;
    if (place) words.addEventListener("input", () => keepText(here.me.name, place, words.value), { signal });
    dialog.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.choice) choose(button);
      else if (button) finish(null);
    }, { signal });
    dialog.addEventListener("keydown", (event) => {
      if (words && event.target === words && event.key === "Enter") {
        event.preventDefault();
        const chosen = words.dataset.for ?? current;
        const button = buttons.find((candidate) => candidate.dataset.choice === chosen);
        if (button) choose(button);
        else error.textContent = t("Choose one of the reasons; your words go with it.");
      } else if (event.target !== words && event.target !== way && !event.ctrlKey && !event.metaKey && !event.altKey) {
        const button = buttons[Number(event.key) - 1];
        if (button) { event.preventDefault(); choose(button); }
      }
    }, { signal });
    dialog.addEventListener("cancel", () => finish(null), { signal });
  });
}

/** Where the words are kept that somebody gives for `action` on these cases, until it is done. */
export const placeOfWords = (action, ...keys) => `${keys.join(" ")}#${action}`;

/** Say in the menu what it decides on. */
function describe(dialog, title, list) {
  const heading = dialog.querySelector("h2");
  heading.dataset.own ??= heading.textContent;
  heading.textContent = title ?? heading.dataset.own;
  const listed = dialog.querySelector(".listed");
  if (!listed) return;
  listed.hidden = !list.length;
  listed.replaceChildren(...list.map((text) => make("li", { text, dir: "auto" })));
}
