// Filters that one comes back to, under a name, kept in this browser for each person.

import { byId, make } from "./dom.js";
import { t } from "./language.js";
import { ask } from "./menus.js";
import { store, stored } from "./stored.js";

const place = (person) => `rejoinder-filters:${person}`;
const SAVE = "+";
const FORGET = "-";

function read(person) {
  const kept = stored(place(person));
  return Array.isArray(kept) ? kept : [];
}

const write = (person, saved) => store(place(person), saved);

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Offer the saved filters; `apply(choices)` narrows the list to one. Returns a function that shows them again. */
export function offerSavedFilters(person, queue, apply) {
  const select = byId("saved-filters");

  function show() {
    const saved = read(person);
    const current = saved.find((item) => isSame(item.choices, queue.choices));
    select.replaceChildren(
      make("option", { value: "", text: t("Saved filters") }),
      ...saved.map(({ name }) => make("option", { value: `=${name}`, text: name, selected: name === current?.name })),
      make("option", { value: SAVE, text: t("Save these filters…") }),
      ...(current ? [make("option", { value: FORGET, text: t("Forget “{name}”", current) })] : []));
  }

  select.addEventListener("change", async () => {
    const saved = read(person);
    const { value } = select;
    if (value === SAVE) {
      const answer = await ask("save-filter", { current: "yes", needsWords: () => true });
      if (answer) write(person, [...saved.filter(({ name }) => name !== answer.words), { name: answer.words, choices: queue.choices }]);
    } else if (value === FORGET) {
      write(person, saved.filter((item) => !isSame(item.choices, queue.choices)));
    } else {
      const item = saved.find(({ name }) => `=${name}` === value);
      if (item) await apply(item.choices);
    }
    show();
  });
  show();
  return show;
}
