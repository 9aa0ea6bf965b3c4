"""Translation of texts that the ledger stores in English or that come from lower rooms.

Workers write notes and reasons, and the ledger explains refusals, in a fixed set of wordings, listed here as messages
with placeholders. A text that matches one is translated from the catalogue; any other, such as a moderator's own words,
stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

from bot.translation import N_, SOURCE_LANGUAGE, _, language
from bot.wording import GROUP_WORDS, INTENT_NAMES

WORDINGS = (
    # Reasons in the history.
    N_("flagged"),
    N_("approved draft {number}"),
    N_("edited"),
    N_("checks overridden"),
    N_("the post stayed covered"),
    N_("assigned to {who}: {reason}"),
    N_("assigned to {who}"),
    N_("claimed until {moment}"),
    N_("unclaimed"),
    N_("undone"),
    N_("opened again"),
    N_("replayed"),
    N_("released"),
    N_("erased on request"),
    N_("erased: older than {setting}"),
    N_("evidence found: {number}"),
    N_("draft {number} from {origin}"),
    N_("composer"),
    N_("model"),
    N_("redraft {number}, {intent}, by {strategy}: {hint}"),
    N_("redraft {number}, {intent}, by {strategy}"),
    N_("redraft {number}, {intent}: {hint}"),
    N_("redraft {number}, {intent}"),
    # Results of triage.
    N_("It may be hateful, but it is unclear whom it attacks."),
    N_("It seems to attack {groups}."),
    N_("It may attack {groups}."),
    N_("Whom it means is taken from the thread."),
    N_("It has no text that can be read."),
    N_("It repeats a post that is already a case: {case}."),
    N_("It does not read as hateful ({share}; the limit is {limit})."),
    N_("It reads as counterspeech itself ({share} sure)."),
    N_("It may not be hateful at all ({share}; a draft is made from {limit})."),
    N_("It speaks of suicide or self-harm, or urges somebody to it: a person has to look, so nothing is drafted."),
    N_("It may hint at suicide or self-harm: a person has to look, so nothing is drafted."),
    N_("It concerns the sexual safety of children: a person has to look, so nothing is drafted."),
    N_("It threatens people with violence, or calls for it: a person has to look, so nothing is drafted."),
    # Notes on evidence and drafts, sentence by sentence.
    N_("Is this hateful at all?"),
    N_("The evidence may not answer this post."),
    N_("If it does, request a draft."),
    N_("The hate probability is {share}."),
    N_("No fitting evidence in the knowledge base for this post; search it by hand or write the reply yourself."),
    N_("No fitting evidence in the knowledge base for {groups}; search it by hand or write the reply yourself."),
    N_("No fitting evidence in {language} for this post."),
    N_("Search the evidence or write a reply."),
    N_("Composed replies failed: {checks}."),
    N_("{number} of {all} model drafts failed: {checks}."),
    N_("{number} of {all} drafts failed: {checks}."),
    N_("So {strategy} drafted, not {other}."),
    N_("Drafted by {strategy}, as {other} could not plan: {why}."),
    N_("{other} is not among the strategies of this worker, so {strategy} took its place."),
    N_("The hint was not used: this draft is composed from the evidence."),
    N_("The language model refused: {why}."),
    N_("The language model is away: {why}."),
    N_("{strategy} took longer than {seconds} s."),
    N_("{strategy} did not plan: {why}."),
    N_("the budget of time and tokens is spent"),
    N_("it is not among the strategies of this worker"),
    N_("{strategy} lacks a model or evidence."),
    N_("{strategy} lacks a model or a fact in the reply's language."),
    N_("{strategy} lacks a model, a counter-claim or evidence."),
    N_("{strategy} lacks a model, a reading of the post or evidence."),
    N_("The model named no counter-claim."),
    N_("The model gave no sentence with the number of a fact."),
    N_("The model only retold facts."),
    N_("The model gave no reading of the post."),
    N_("No duel was held, with no reply to judge: {why}."),
    N_("No duel was held, with {number} reply to judge: {why}."),
    N_("its time or tokens were spent before the model wrote another"),
    N_("the model wrote no other"),
    N_("The tournament ended after {number} of {pairs} duels: its budget was spent or a score unreadable."),
    N_("Chosen of {number} replies in {pairs} duel, each judged in both orders."),
    N_("Chosen of {number} replies in {pairs} duels, each judged in both orders."),
    N_("Chosen of {number} replies in {pairs} duel, each judged once."),
    N_("Chosen of {number} replies in {pairs} duels, each judged once."),
    N_("In {number} of them whoever was shown first, or second, won both times."),
    # Results of checks.
    N_("There is no text."),
    N_("{number} characters of at most {limit} on {platform}."),
    N_("{number} characters; no reply of more than {limit} is read."),
    N_("{number} sentence, {expected} expected."),
    N_("{number} sentences, {expected} expected."),
    N_("A sentence has no end mark: {text}"),
    N_("A questioning reply needs a question mark."),
    N_("Reads as an insult: {text}."),
    N_("Reads as a threat: {text}."),
    N_("Reads as {language}; the post calls for {other}."),
    N_("Hidden or disguised characters: {text}."),
    N_("Mixes scripts within a word: {text}."),
    N_("Remove {text}."),
    N_("Speaks as a machine or refuses: {text}."),
    N_("Shows a piece of the drafting instructions, or speaks of itself: {text}."),
    N_("Not in the evidence: {text}."),
    N_("Repeats the post's claim: {text} ({share} repeats the post; {limit} is the limit)."),
    N_("{share} repeats the post; {limit} is the limit."),
    N_("{share} of its words stand in an earlier reply; {limit} is the limit."),
    N_("The author or the thread was answered with this text in another case."),
    N_("Refutes, questions, corrects or speaks up for equal rights."),
    N_("Grants the post nothing."),
    N_("Takes no stand: it neither refutes nor questions nor corrects the post, nor speaks up for equal rights."),
    N_("Whether a reply in {language} contradicts the post can't be told; please read it closely."),
    N_("Agrees with the post: {text}."),
    N_("Says something derogatory of a whole group: {text}."),
    N_("Denies a group its rights: {text}."),
    N_("Calls the evidence or a right untrue: {text}."),
    N_("{share} of the words are accounted for; {limit} are needed."),
    N_("{share} of the best sentence comes from the evidence."),
    N_("Says more than its evidence: {text} ({share} of the words are accounted for; {limit} are needed)."),
    N_("Says the opposite of its evidence, or nothing of it: {text}."),
    N_("Claims more than its evidence: {text}."),
    N_("Unlike the evidence that it nearly copies: {text}."),
    N_("Toxicity {share}; {limit} is the limit."),
    N_("Toxicity is not known for {language}; please read this reply closely."),
    N_("The evidence is in {language}, which a {other} reply can't be compared with."),
    N_("Does not follow from the evidence: {text}."),
    N_("Says what its evidence does not: {text}."),
    N_("Speaks of something else than the post: {text}."),
    N_("May have nothing to do with the post: {text}."),
    N_("May answer nothing: {text}."),
    N_("Has figures in unusual characters: {text}."),
    N_("Has letters of another script: {text}."),
    N_("Has a sign where a figure should stand: {text}."),
    N_("Says the same words over again: {text}."),
    N_("Its words stand in no usual order: {text}."),
    N_("Says the prompt's example over again: {text}."),
    N_("May not stand against the post: {text}."),
    N_("May harm somebody, or speak for the post: {text}."),
    N_("the judge took longer than {seconds} s (guard.judge_timeout_s)."),
    N_("the judge {name} does not read {language}"),
    N_("the entailment model does not read {language}"),
    N_("the embedder of the guard's heads does not read {language}"),
    N_("set {setting} to one that does."),
    N_("Fit to show with a probability of {share}; {limit} is the least."),
    N_("Not judged: {why}"),
    N_("the judge gave no number."),
    # Reasons for refusals.
    N_("Too many wrong tokens came from your address"),
    N_("try again in {seconds} s."),
    N_("the ledger at {address} did not do its work: {why}; try again later"),
    N_("there is no case {case}; look its key up in the queue"),
    N_("There is no case number {number}; look it up in the queue."),
    N_("case {case} was {what} by {who} {span} ago (version {version}, you saw {number}); look at it again"),
    N_("case {case} is {what}, so you can't {action} it; that takes a case that is {states}"),
    N_("case {case} is claimed by {who} for another {span}; ask them, or wait"),
    N_("the texts of case {case} were erased; nothing can be done with it any more"),
    N_("the texts of case {case} were erased; nothing can be added to it any more"),
    N_("case {case} was already released; it can't be undone"),
    N_("case {case} is being released or was already released; it can't be undone"),
    N_("case {case} is {what}, and the time to undo that is over; open it again instead"),
    N_("case {case} was dismissed by triage; there is no decision to undo"),
    N_("case {case} failed before it had evidence; replay its dead letter instead"),
    N_("case {case} is {what}: nothing has ended that one could appeal against"),
    N_("case {case} is {what}: only a case that waits takes more evidence"),
    N_("case {case} was retracted before"),
    N_("case {case} is not claimed"),
    N_("case {case} did not change; look at it again"),
    N_("noted on"),
    N_("appealed against"),
    N_("given more evidence"),
    N_("assigned"),
    N_("handed over"),
    N_("marked as handled"),
    N_("retracted"),
    N_("claimed"),
    N_("drafted"),
    N_("taken back"),
    N_("sent for another draft"),
    N_("received"),
    N_("triaged"),
    N_("grounded"),
    N_("pending"),
    N_("approved"),
    N_("rejected"),
    N_("dismissed"),
    N_("escalated"),
    N_("failed"),
    # The demo's descriptions of its parts.
    N_("Kafka broker"),
    N_("takes flagged posts and hands approved replies on, at {address}; it forgets when it ends."),
    N_("Worker"),
    N_("finds whom a post attacks, finds evidence, drafts, and checks what it drafted."),
    N_("Words on file"),
    N_("drafts are put together from them; no language model runs."),
    N_("Language model"),
    N_("{model} drafts on this machine, where no words on file answer a post."),
    N_("Ledger"),
    N_("keeps every case, decision and reply on this machine; the next start goes on from there."),
    N_("This page"),
    N_("is where people decide. Nothing is sent without their yes, and here nothing leaves the machine."),
)
_PLACE = re.compile(r"\\\{(\w+)\\\}")
_FITS = {"case": r"\S+", **dict.fromkeys(("number", "all", "version", "pairs"), r"[\d,]+")}
"""What matches a placeholder; the placeholders not listed match any words."""
_GAP = re.compile(r"(?<=[.?!]) (?=\S)|; ")
_MOST_SENTENCES = 4
"""Maximum number of sentences, or parts between semicolons, in one wording."""


def translate_stored(text: str) -> str:
    """Translate a stored text into the current language, part by part and sentence by sentence."""
    if language() == SOURCE_LANGUAGE or not text:
        return text
    gaps = [*_GAP.finditer(text)]
    starts = [0, *(gap.end() for gap in gaps)]
    ends = [*(gap.start() for gap in gaps), len(text)]
    pieces: list[str] = []
    part = 0
    while part < len(starts):
        crossed, words = _translate_shortest(text, starts[part], ends[part : part + _MOST_SENTENCES])
        pieces.append(words)
        part += crossed + 1
        if part < len(starts):
            pieces.append(gaps[part - 1].group())
    return "".join(pieces)


def _translate_shortest(text: str, start: int, ends: list[int]) -> tuple[int, str]:
    """Return the number of gaps that the shortest known wording spans, and its translation; else the first sentence."""
    for crossed, end in enumerate(ends):
        if (words := _translate_wording(text[start:end])) is not None:
            return crossed, words
    return 0, text[start : ends[0]]


def _translate_wording(text: str) -> str | None:
    """Return the translation of a text that matches one of the wordings, or None."""
    for message, pattern in _patterns():
        if match := pattern.fullmatch(text):
            return _(message, **{name: _translate_place(name, value) for name, value in match.groupdict().items()})
    return None


def _translate_place(name: str, value: str) -> str:
    """Return a placeholder's value, translated if it is one of a few known words."""
    if name == "groups":
        return _translate_groups(value)
    if name == "intent":
        return {str(intent): words for intent, words in INTENT_NAMES.items()}.get(value, value)
    if name in ("what", "why", "states", "origin", "expected"):
        return _translate_wording(value) or " / ".join(_translate_wording(part) or part for part in value.split(" or "))
    return value


def _translate_groups(listed: str) -> str:
    labels = {group.label: words for group, words in GROUP_WORDS.items()}
    names = [labels.get(label, label) for label in re.split(", | and ", listed)]
    *first, last = names
    return _("{groups} and {last}", groups=", ".join(first), last=last) if first else last


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((message, re.compile(_PLACE.sub(_pattern, re.escape(message)), re.DOTALL)) for message in WORDINGS)


def _pattern(place: re.Match[str]) -> str:
    return f"(?P<{place[1]}>{_FITS.get(place[1], '.+?')})"
