// Settings of one's own: hidden groups, which hold in the chats too, and care, which stays in this browser.

import { chooseLanguage, fetchHidden, fetchLanguage, hideGroups } from "./api.js";
import { careOf, keepCare } from "./care.js";
import { byId, say } from "./dom.js";
import { here, queue } from "./here.js";
import { t } from "./language.js";
import { explain } from "./trouble.js";

const dialog = () => byId("settings");
const groupBoxes = () => [...dialog().querySelectorAll('[name="group"]')];

/** Show the settings as they are, and keep each as soon as it is changed. */
export async function openSettings() {
  const person = here.me.name;
  const care = careOf(person);
  for (const [name, value] of Object.entries(care)) {
    const field = byId(`care-${name}`);
    if (field.type === "checkbox") field.checked = value;
    else field.value = String(value);
  }
  say(dialog().querySelector(".saved"), "");
  const choice = byId("own-language");
  dialog().onchange = (event) => (event.target === choice ? speak(choice.value) : event.target.name === "group" ? hide() : keep(person));
  if (!dialog().open) dialog().showModal();
  try {
    show((await fetchHidden()).groups);
    choice.value = (await fetchLanguage()).language ?? "";
  } catch (error) {
    explain(error);
  }
}

const show = (groups) => { for (const box of groupBoxes()) box.checked = groups.includes(box.value); };

function keep(person) {
  const care = {};
  for (const name of Object.keys(careOf(person))) {
    const field = byId(`care-${name}`);
    care[name] = field.type === "checkbox" ? field.checked : within(field);
  }
  keepCare(person, care);
  say(dialog().querySelector(".saved"), t("Saved."));
}

/** Have the desk in another language: the page is made anew in it, and what was begun is kept. */
async function speak(language) {
  await chooseLanguage(language || null).then(() => location.reload(), explain);
}

/** Return the field's number, within what the field allows. */
function within(field) {
  const number = Math.round(Number(field.value)) || 0;
  return Math.min(Number(field.max || number), Math.max(Number(field.min || 0), number));
}

async function hide() {
  try {
    show((await hideGroups(groupBoxes().filter((box) => box.checked).map((box) => box.value))).groups);
    say(dialog().querySelector(".saved"), t("Saved."));
    await queue.search();
  } catch (error) {
    explain(error);
  }
}
