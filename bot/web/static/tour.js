// A tour of one made-up case. It lives in this page alone: nothing of it is stored or sent.

import { showCase, unveil } from "./case.js";
import { byId, say, slot } from "./dom.js";
import { here, queue } from "./here.js";
import { goOn, showPage } from "./opening.js";
import { lang, t } from "./language.js";
import { announce } from "./toasts.js";
import { WAITING } from "./words.js";

const PLACES = [".case-head", ".post", ".side-column .card", ".reply", ".evidence", ".actions"];
const STEPS = [
  [t("A made-up case"), t("This post was never written by anybody. Nothing here is stored or sent; the buttons of the case rest while the tour lasts.")],
  [t("The post is hidden"), t("You see a post only when you ask for it, with the key b. Here it is: a made-up one, about people from a made-up moon.")],
  [t("Whom it attacks"), t("The machine says whom the post attacks and how sure it is. Where it doubts that a post is hateful at all, it asks you first.")],
  [t("The draft"), t("Two sentences that answer the post. They were checked before you saw them; a yellow line would say what doesn't fit.")],
  [t("The evidence"), t("What the draft states stands here with its source. Open the link before you rely on it.")],
  [t("You decide"), t("Approve, edit, reject or dismiss, by button or key. Nothing leaves without your yes, and for some seconds you can take it back.")],
];
const POST = 1; // the step in which the post is shown
const check = (name, label, value, threshold) => ({ name, label, value, threshold, passed: true, close: false, hard: true, finding: "" });

function madeUpCase() {
  const now = new Date().toISOString();
  const source = { institution: t("Harbour Office of Zorblax"), title: t("Yearbook of the moons"), symbol: "", locator: t("page 12"), year: 2026, url: "" };
  const evidence = {
    id: "made-up", text: t("In the year under review newcomers opened four of ten new bakeries."), summary: "", source, language: lang, region: "Zorblax",
  };
  return {
    key: "tour/made-up", version: 1, state: WAITING, received_at: now, updated_at: now, sample: true,
    post: { platform: "tour", post_id: "made-up", text: t("Zorblaxians eat all our biscuits. Send them back to their moon!"), url: null, reason: t("a reader's report"), context: [] },
    triage: { groups: [{ group: "migrants", score: 0.93 }], hate: 0.88, language: lang, reason: "" },
    grounding: { evidence: [evidence], note: "", claims: [] },
    drafts: [{
      number: 1, text: `${evidence.text} ${t("Who bakes with us is a neighbour, whatever moon they come from.")}`,
      intent: "informative", origin: "composer", writer: t("words on file"), language: lang, note: "",
      checks: [check("sentences", t("two sentences"), 2, 2), check("length", t("length in characters"), 133, 500)],
    }],
    request: { intent: "informative" }, answers: t("They eat what is ours."), warnings: [], marks: {}, used: ["made-up"], reading: [], history: [], notes: [],
    actions: ["approve", "edit", "reject", "dismiss", "redraft", "claim"], undoable: false, doubtful: false,
    claimed_by: null, claimed_until: null, decided_by: null, decided_why: null, final_text: null, release_at: null,
    handled: false, appealed: false, retracted_at: null, error: null,
  };
}

/** Show the made-up case and its first step. */
export function startTour() {
  const item = madeUpCase();
  const root = showCase(item, here.me);
  showPage("tour", root);
  for (const field of root.querySelectorAll(".actions button, .around-actions button, .note-form *, [data-do]")) field.disabled = true;
  const dialog = byId("tour");
  if (!dialog.open) dialog.show();
  let step = 0;
  const go = (to) => {
    if (to >= STEPS.length) return end();
    step = Math.max(0, to);
    show(root, item, step);
  };
  dialog.onclick = (event) => {
    const choice = event.target.closest("[data-tour]")?.dataset.tour;
    if (choice === "next") go(step + 1);
    else if (choice === "back") go(step - 1);
    else if (choice === "end") end();
  };
  dialog.onkeydown = (event) => {
    const to = { ArrowRight: step + 1, ArrowLeft: step - 1, Escape: STEPS.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  go(0);
}

function show(root, item, step) {
  const [title, words] = STEPS[step];
  unveil(root, item, step === POST);
  for (const button of root.querySelectorAll(".post [data-do]")) button.disabled = true;
  root.querySelector(".tour-here")?.classList.remove("tour-here");
  const place = root.querySelector(PLACES[step]);
  place.classList.add("tour-here");
  place.scrollIntoView({ block: "nearest" });
  const dialog = byId("tour");
  say(dialog.querySelector("h2"), title);
  say(slot(dialog, "words"), words);
  say(slot(dialog, "step"), t("Step {step} of {steps}", { step: step + 1, steps: STEPS.length }));
  dialog.querySelector('[data-tour="back"]').disabled = step === 0;
  const button = dialog.querySelector('[data-tour="next"]');
  button.textContent = step === STEPS.length - 1 ? t("End the tour") : t("Next");
  button.focus();
  announce(`${title}. ${words}`);
}

function end() {
  byId("tour").close();
  goOn(queue.shown[0]?.key ?? null);
  byId("case").focus({ preventScroll: true });
}
