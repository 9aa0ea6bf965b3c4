// Show one case. Its post is not even on the page until somebody asks to see it.

import { fillNotes, showNotes } from "./around.js";
import { isTurned, plainNodes } from "./bidi.js";
import { showChecks } from "./checks.js";
import { bar, byId, copyOf, httpsOnly, make, pointTo, say, slot } from "./dom.js";
import { t, timeOfDay } from "./language.js";
import { tellTimes } from "./status.js";
import {
  age, DRAFTING, groupWord, hatefulness, holder, intentWord, percent, reasonWords, secondsSince, smallPrint, standing, stateWords, sureness, WAITING,
} from "./words.js";

/** The strategy whose drafts say already, as words on file or evidence, how they came about. */
const COMPOSE = "compose";

/** What is done with a case that changes its state little or not at all. */
const LATER = {
  note: t("a note"), evidence: t("evidence added"), appeal: t("appealed against"), handle: t("marked as handled"), hand_over: t("handed over"), retract: t("reply retracted"), reopen: t("opened again"),
};

/** Put the case on the page and return its element. */
export function showCase(item, me) {
  const root = make("div", { class: "case-inner" }, copyOf("case-template"));
  fillHead(root, item);
  fillPost(root, item);
  fillReply(root, item);
  fillEvidence(root, item);
  fillTriage(root, item);
  fillHistory(root, item);
  showNotes(root, item, me);
  fillActions(root, item, me);
  byId("case-body").replaceChildren(root);
  return root;
}

/** Show or hide the post; return whether it is shown now. */
export function unveil(root, item, shown) {
  slot(root, "veil").hidden = shown;
  slot(root, "post").hidden = !shown;
  slot(root, "text").replaceChildren(...plainNodes(shown ? item.post.text : ""));
  const context = shown ? item.post.context : [];
  const turned = shown && [item.post.text, ...context].some(isTurned);
  say(slot(root, "turned"), turned && t("This text has characters that turn its order around. They are marked, and it is shown as it was written."));
  slot(root, "thread").hidden = !context.length;
  slot(root, "context").replaceChildren(...context.map((text) => make("li", { dir: "auto" }, ...plainNodes(text))));
}

/** Show the checks of the newest draft. */
export const showDraftChecks = (root, item) => showChecks(root, t("Checks of the draft"), item.drafts.at(-1)?.checks ?? []);

/** Bring head, actions and history up to date, and leave the rest, such as a text being written, alone. */
export function refreshAround(root, item, me) {
  fillHead(root, item);
  fillHistory(root, item);
  fillNotes(root, item);
  fillActions(root, item, me);
  tellTimes();
}

/** Tell whether the decision can still be taken back; the server said so when it sent the case. */
export const isUndoable = (item) => item.undoable && secondsSince(item.release_at) < 0;

/** Tell whether the server lets this moderator undo the decision, and its time still runs. */
export const mayUndo = (item) => item.actions.includes("undo") && isUndoable(item);

function fillHead(root, item) {
  slot(root, "platform").textContent = item.post.platform;
  slot(root, "post-id").textContent = item.post.post_id;
  slot(root, "sample").hidden = !item.sample;
  const since = slot(root, "age");
  since.dateTime = item.received_at;
  since.textContent = age(item.received_at);
  pointTo(slot(root, "link"), item.post.url);
  const state = slot(root, "state");
  state.dataset.state = item.state;
  state.textContent = standing(item);
  if (item.decided_why) state.append(`: ${reasonWords(item.decided_why)}`);
  const later = [item.retracted_at && t("retracted"), item.appealed ? t("an appeal waits") : item.handled && t("handled")].filter(Boolean);
  if (later.length) state.append(` · ${later.join(", ")}`);
  if (item.error) state.append(`: ${item.error}`);
  if (isUndoable(item)) state.append(` · ${t("final in")} `, make("span", { "data-until": item.release_at }));
}

function fillPost(root, item) {
  unveil(root, item, false);
  const facts = [t("{n} characters", { n: item.post.text.length })];
  if (item.post.reason) facts.push(t("flagged as: {reason}", item.post));
  slot(root, "reason").textContent = facts.join(" · ");
  const language = item.triage?.language;
  if (language && language !== "und") slot(root, "text").lang = language;
}

/** Say what the reply's card shows: the moderator's own text while they write, or what the case has. */
export function titleReply(root, item, isOwn) {
  const draft = item.drafts.at(-1);
  slot(root, "reply-title").textContent = isOwn ? t("Your text") : item.final_text !== null ? t("Reply as approved") : item.doubtful ? t("In doubt") : t("Draft");
  const number = draft && item.drafts.length > 1 ? `${t("no. {number}", draft)} · ` : "";
  const origin = draft && !item.doubtful ? `${number}${intentWord(draft.intent)} · ${draft.writer}${draft.strategy && draft.strategy !== COMPOSE ? ` · ${draft.strategy}` : ""}` : t("no draft yet");
  slot(root, "origin").textContent = isOwn ? "" : origin;
}

function fillReply(root, item) {
  const draft = item.drafts.at(-1);
  const decided = item.final_text !== null;
  titleReply(root, item, false);
  say(slot(root, "answers"), item.answers && t("Answers: {answers}", item));
  slot(root, "warnings").hidden = !item.warnings.length;
  slot(root, "warnings").replaceChildren(...item.warnings.map((text) => make("li", { text })));
  say(slot(root, "note"), draft?.note);
  const text = slot(root, "draft");
  say(text, decided ? item.final_text : draft?.text);
  if (draft?.language && draft.language !== "und") text.lang = draft.language;
  fold(root, "duels", item.duels);
  slot(root, "reply-card").hidden = !draft && !decided && item.state !== DRAFTING;
  showDraftChecks(root, item);
}

export function fillEvidence(root, item) {
  const evidence = [...item.grounding?.evidence ?? []].sort((one, other) => !item.used[one.id] - !item.used[other.id]);
  slot(root, "evidence-card").hidden = !item.grounding;
  slot(root, "evidence-fold").open = !item.doubtful;
  say(slot(root, "evidence-note"), item.grounding?.note || (evidence.length ? "" : t("No evidence was found for this post.")));
  slot(root, "evidence").replaceChildren(...evidence.map((piece) => make("li", { class: item.used[piece.id] && "used" },
    ...evidenceLine(piece, item.marks[piece.id] ?? [], item.used[piece.id]))));
  slot(root, "find-open").hidden = item.state !== WAITING || !item.actions.includes("edit");
}

/** Return what to show of a statement: its marks, its words, where it stands. */
export function evidenceLine(piece, marks, why) {
  return [
    marksOf(marks, piece.region, why),
    make("p", { class: "evidence-text", text: piece.summary || piece.text, lang: piece.language, dir: "auto" }),
    ...inFull(piece),
    make("p", { class: "evidence-source" }, ...sourceParts(piece.source)),
  ];
}

/** Return what to know of a statement before one relies on it as a line of marks, or null. */
function marksOf(marks, region, why) {
  const shown = [why && ["used", why], ...marks.map((text) => [text === region ? "region" : "", text])].filter(Boolean);
  if (!shown.length) return null;
  return make("p", { class: "marks" }, ...shown.flatMap(([kind, text]) => [make("span", { class: `mark ${kind}`, text }), " "]));
}

function inFull(piece) {
  if (!piece.summary) return [];
  return [make("details", { class: "evidence-full" },
    make("summary", { text: t("Shortened by the model; show the paragraph") }),
    make("p", { class: "evidence-text", text: piece.text, lang: piece.language, dir: "auto" }))];
}

function sourceParts(source) {
  const address = httpsOnly(source.url);
  const title = address
    ? make("a", { href: address, rel: "noopener noreferrer", target: "_blank", text: `${source.title} ↗` })
    : make("span", { text: source.title });
  const rest = [source.symbol, source.locator, source.year].filter(Boolean).join(" · ");
  return [make("strong", { text: source.institution }), " · ", title, ` · ${rest}`];
}

function fillTriage(root, item) {
  const groups = item.triage?.groups ?? [];
  slot(root, "groups").replaceChildren(...groups.map(({ group, score }) => scoreLine(groupWord(group), score, sureness(score))));
  if (!groups.length) slot(root, "groups").append(make("li", { text: t("No group was found.") }));
  const hate = item.triage?.hate;
  slot(root, "hate-title").hidden = hate === undefined;
  slot(root, "hate").replaceChildren(...(hate === undefined ? [] : [scoreLine(hatefulness(hate), hate, "")]));
  say(slot(root, "triage-reason"), item.triage?.reason);
  fold(root, "reading", item.reading);
}

function fold(root, name, lines) {
  slot(root, `${name}-fold`).hidden = !lines.length;
  slot(root, name).replaceChildren(...lines.flatMap(([term, text]) => [make("dt", { text: term }), make("dd", { text })]));
}

function scoreLine(name, score, words) {
  return make("li", {},
    make("span", { class: "score-name", text: name }), bar(score, name),
    make("span", { class: "score-value", text: [percent(score), words].filter(Boolean).join(", ") }));
}

function fillHistory(root, item) {
  slot(root, "history").replaceChildren(...[...item.history].reverse().map((change) => make("li", {},
    make("span", { class: "history-what", text: whatHappened(change) }),
    ...smallPrint(` · ${change.who}, `, change.at),
    reasonOf(change) ? make("span", { class: "history-why", dir: "auto", text: reasonOf(change) }) : null)));
}

/** Say what happened, where the state tells it or the kind of the change does. */
function whatHappened(change) {
  if (LATER[change.kind]) return LATER[change.kind];
  return change.from_state === change.to_state ? withTimes(change.why) : stateWords(change.to_state);
}

const reasonOf = (change) => (LATER[change.kind] || change.from_state !== change.to_state ? reasonWords(change.why) : "");

/** Say moments inside a text by the reader's clock. */
const withTimes = (text) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)/g,
  (moment) => timeOfDay(new Date(moment)));

/** Tell whether a moderator decides on a first draft. */
export const awaitsDraft = (item) => item.doubtful || item.awaits_request;

/** Tell whether the case has a button for `name`; a first draft is requested at once, without a menu. */
function isOffered(item, name) {
  if (name === "draft") return awaitsDraft(item) && item.actions.includes("redraft");
  return item.actions.includes(name) && !(name === "redraft" && awaitsDraft(item));
}

/** Put the buttons with these names before the others; the first is the one that stands out. */
function putFirst(root, names) {
  const buttons = names.map((name) => root.querySelector(`.actions [data-do="${name}"]`));
  slot(root, "actions").prepend(...buttons);
  buttons[0]?.classList.add("primary");
}

function fillActions(root, item, me) {
  for (const button of root.querySelectorAll(".actions [data-do]:not(.writing)")) button.hidden = !isOffered(item, button.dataset.do);
  putFirst(root, item.doubtful ? ["dismiss", "draft"] : item.awaits_request ? ["draft"] : []);
  slot(root, "assign-open").hidden = !item.actions.includes("assign");
  slot(root, "edit-word").textContent = item.drafts.at(-1)?.text ? t("Edit") : t("Own words");
  root.querySelector('.actions [data-do="undo"]').hidden = !mayUndo(item);
  const who = item.state === WAITING ? holder(item) : null;
  const others = who !== null && who !== me.name;
  slot(root, "undo-until").dataset.until = item.release_at ?? "";
  slot(root, "claim-word").textContent = others ? t("Take over") : who ? t("Let go") : t("Claim");
  const isWriting = !slot(root, "editor").hidden;
  slot(root, "actions").hidden = !isWriting && !root.querySelector(".actions button:not([hidden], .writing)");
  const words = !others ? t("You hold this case.")
    : item.actions.includes("claim") ? t("{who} holds this case.", { who }) : t("{who} holds this case. Leave it to them, or ask a lead.", { who });
  say(slot(root, "notice"), who && words);
}
