// One decision on all posts with the same text, each with its own reply: those in the list, as listed.

import { fetchRelated } from "./api.js";
import { byId, make } from "./dom.js";
import { isOpen } from "./here.js";
import { keptText } from "./kept.js";
import { t } from "./language.js";
import { askWhyRejected, countWords, sendMany } from "./many.js";
import { holder, WAITING } from "./words.js";

let rows = new Map(); // key -> {item, box, mark}: what the open dialog lists
let closed = () => {};

const dialog = () => byId("same");
const chosen = () => [...rows.values()].filter(({ box }) => box.checked && !box.disabled);
const canBeSent = (item) => Boolean(item.draft) && item.origin !== "none";

/** Show every waiting case with the text of `open`; resolve with the decision, or null. `mayApprove()` asks once more. */
export async function decideOnSame(open, me, { mayApprove, uncovered }) {
  const { same_text } = await fetchRelated(open.key);
  if (!isOpen(open.key)) return null;
  const draft = open.drafts.at(-1);
  const first = { ...open, post_id: open.post.post_id, draft: draft?.text ?? "", origin: draft?.origin };
  list([first, ...same_text.filter((item) => item.state === WAITING)], me);
  dialog().querySelector(".error").textContent = "";
  dialog().showModal();
  byId("same-title").focus();
  return new Promise((resolve) => {
    closed = (results) => { dialog().close(); rows = new Map(); resolve(results); };
    dialog().oncancel = () => closed(null);
    dialog().onclick = async (event) => {
      const choice = event.target.closest("[data-same]")?.dataset.same;
      if (choice === "close") closed(null);
      else if (choice === "approve" && await mayApprove()) send("approve", { uncovered: uncovered() });
      else if (choice === "reject") reject();
    };
  });
}

async function reject() {
  const rest = await askWhyRejected(chosen().map(({ item }) => item));
  if (rest) send("reject", rest);
}

async function send(action, rest) {
  const cases = chosen().filter(({ item }) => action !== "approve" || canBeSent(item))
    .map(({ item }) => ({ key: item.key, version: item.version, ...(action === "approve" ? { text: item.draft } : {}) }));
  if (!cases.length) return;
  for (const button of dialog().querySelectorAll("[data-same]")) button.disabled = true;
  try {
    closed(await sendMany(action, cases, rest));
  } catch (error) {
    dialog().querySelector(".error").textContent = error.message;
  } finally {
    for (const button of dialog().querySelectorAll("[data-same]")) button.disabled = false;
    count();
  }
}

function list(items, me) {
  const texts = new Set();
  rows = new Map();
  byId("same-title").textContent = t("The same text: {cases}", { cases: countWords(items.length) });
  byId("same-cases").replaceChildren(...items.map((item, place) => {
    const held = ![null, me.name].includes(holder(item));
    const again = canBeSent(item) && texts.has(item.draft);
    texts.add(item.draft);
    const begun = keptText(me.name, item.key) !== null;
    const isPlain = !held && !again && !begun && canBeSent(item);
    const box = make("input", { type: "checkbox", id: `same-${place}`, checked: isPlain, disabled: held });
    const words = begun ? t("you began a text of your own here") : held ? t("held by {who}", { who: holder(item) })
      : again ? t("the same reply as one above") : canBeSent(item) ? "" : t("no draft: it can only be rejected");
    const mark = make("span", { class: "mark", text: words, hidden: !words });
    box.addEventListener("change", count);
    rows.set(item.key, { item, box, mark });
    return make("li", {}, box, make("label", { for: box.id }, make("strong", { text: item.post_id }), " ", mark,
      make("span", { class: "same-draft", dir: "auto", text: item.draft || t("No draft") })));
  }));
  count();
}

function count() {
  const sendable = chosen().filter(({ item }) => canBeSent(item)).length;
  for (const [name, number] of [["approve", sendable], ["reject", chosen().length]]) {
    const button = dialog().querySelector(`[data-same="${name}"]`);
    button.querySelector("[data-count]").textContent = countWords(number);
    button.disabled = !number;
  }
}

/** Take a case out of the choice that somebody else has changed since it was listed. */
export function changedElsewhere(change) {
  const row = rows.get(change.case_key);
  if (!row || change.version <= row.item.version) return;
  row.box.checked = false;
  row.box.disabled = true;
  row.mark.hidden = false;
  row.mark.textContent = t("changed by {who} meanwhile", change);
  count();
}
