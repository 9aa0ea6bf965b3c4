// A tour of one made-up case. It lives in this page alone: nothing of it is stored or sent.

import { showCase, unveil } from "./case.js";
import { byId, say, slot } from "./dom.js";
import { here, queue } from "./here.js";
import { goOn, showPage } from "./opening.js";
import { TEXTS } from "./texts.js";
import { announce } from "./toasts.js";
import { WAITING } from "./words.js";

const PLACES = [".case-head", ".post", ".side-column .card", ".reply", ".evidence", ".actions"];
const POST = 1; // the step in which the post is shown
const check = (name, label, value, threshold) => ({ name, label, value, threshold, passed: true, close: false, hard: true, finding: "" });

function madeUpCase() {
  const now = new Date().toISOString();
  const source = { institution: "Harbour Office of Zorblax", title: "Yearbook of the moons", symbol: "", locator: "page 12", year: 2026, url: "" };
  const evidence = {
    id: "made-up", text: "In the year under review newcomers opened four of ten new bakeries.", summary: "", source, language: "en", region: "Zorblax",
  };
  return {
    key: "tour/made-up", version: 1, state: WAITING, received_at: now, updated_at: now, sample: true,
    post: { platform: "tour", post_id: "made-up", text: "Zorblaxians eat all our biscuits. Send them back to their moon!", url: null, reason: "a reader's report", context: [] },
    triage: { groups: [{ group: "migrants", score: 0.93 }], hate: 0.88, language: "en", reason: "" },
    grounding: { evidence: [evidence], note: "", claims: [] },
    drafts: [{
      number: 1, text: "In the year under review newcomers opened four of ten new bakeries. Who bakes with us is a neighbour, whatever moon they come from.",
      intent: "informative", origin: "composer", writer: "words on file", language: "en", note: "",
      checks: [check("sentences", "two sentences", 2, 2), check("length", "short enough", 133, 500)],
    }],
    request: { intent: "informative" }, answers: "They eat what is ours.", warnings: [], marks: {}, used: ["made-up"], reading: [], history: [], notes: [],
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
    if (to >= TEXTS.tour.steps.length) return end();
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
    const to = { ArrowRight: step + 1, ArrowLeft: step - 1, Escape: TEXTS.tour.steps.length }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  go(0);
}

function show(root, item, step) {
  const { steps, sum, next, end: last } = TEXTS.tour;
  const [title, words] = steps[step];
  unveil(root, item, step === POST);
  for (const button of root.querySelectorAll(".post [data-do]")) button.disabled = true;
  root.querySelector(".tour-here")?.classList.remove("tour-here");
  const place = root.querySelector(PLACES[step]);
  place.classList.add("tour-here");
  place.scrollIntoView({ block: "nearest" });
  const dialog = byId("tour");
  say(dialog.querySelector("h2"), title);
  say(slot(dialog, "words"), words);
  say(slot(dialog, "step"), sum(step + 1, steps.length));
  dialog.querySelector('[data-tour="back"]').disabled = step === 0;
  const button = dialog.querySelector('[data-tour="next"]');
  button.textContent = step === steps.length - 1 ? last : next;
  button.focus();
  announce(`${title}. ${words}`);
}

function end() {
  byId("tour").close();
  goOn(queue.shown[0]?.key ?? null);
  byId("case").focus({ preventScroll: true });
}
