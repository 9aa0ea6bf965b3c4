// A tour of one made-up case. It lives in this page alone: nothing of it is stored or sent.

import { showCase, unveil } from "./case.js";
import { byId, say, slot } from "./dom.js";
import { here, queue } from "./here.js";
import { lang, t } from "./language.js";
import { goOn, showPage } from "./opening.js";
import { announce } from "./toasts.js";
import { WAITING } from "./words.js";

const PLACES = [".case-head", ".post", ".side-column .card", ".reply", ".evidence", ".actions"];
const STEPS = [...byId("tour-steps").content.children].map((step) => [...step.children].map((part) => part.textContent));
const POST = 1; // the step in which the post is shown
const check = (name, label, value, threshold) => ({ name, label, value, threshold, passed: true });

function madeUpCase() {
  const now = new Date().toISOString();
  const source = { institution: t("Harbour Office of Zorblax"), title: t("Yearbook of the moons"), locator: t("page 12"), year: 2026 };
  const evidence = {
    id: "made-up", text: t("In the year under review newcomers opened four of ten new bakeries."), source, language: lang, region: "Zorblax",
  };
  return {
    key: "tour/made-up", state: WAITING, received_at: now, sample: true,
    post: { platform: "tour", post_id: "made-up", text: t("Zorblaxians eat all our biscuits. Send them back to their moon!"), reason: t("a reader's report"), context: [] },
    triage: { groups: [{ group: "migrants", score: 0.93 }], hate: 0.88, language: lang },
    grounding: { evidence: [evidence] },
    drafts: [{
      number: 1, text: `${evidence.text} ${t("Who bakes with us is a neighbour, whatever moon they come from.")}`,
      intent: "informative", origin: "composer", writer: t("words on file"), language: lang,
      checks: [check("sentences", t("at most two sentences"), 2, 2), check("length", t("length in characters"), 133, 500)],
    }],
    request: { intent: "informative" }, answers: t("They eat what is ours."), warnings: [], marks: {}, used: { "made-up": t("the draft says this") }, reading: [], duels: [], history: [], notes: [],
    actions: ["approve", "edit", "reject", "dismiss", "redraft", "claim"],
    undoable: false, doubtful: false, awaits_request: false, handled: false, appealed: false, final_text: null, decided_why: null, release_at: null, retracted_at: null, error: null,
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
  goOn(queue.cases[0]?.key ?? null);
  byId("case").focus({ preventScroll: true });
}
