"""Derive examples from one closed case: replies to imitate, preferences, and verdicts on sentences on file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bot.reasons import OTHER
from core.domain import Case, CaseState, Draft, Origin, is_edited
from ledger.decided_cases import DecidedCase
from training.decisions.masking import masked
from training.decisions.records import Example, Outcome, Preference, Verdict

Blame = tuple[bool | None, bool | None, bool | None]
"""Whether a decision approves of claim, counter-claim and fact; None where it says nothing about one."""

ALL, NOTHING = (True, True, True), (None, None, None)
BLAMED: dict[str, Blame] = {
    "misread": (False, None, None),
    "evidence": (None, None, False),
    "wrong_fact": (None, None, False),
    "tone": (None, False, None),
    "language": (None, False, None),
    "other": (False, False, False),
}
"""The parts of a draft that each reason for rejection blames."""
ABOUT_THE_POST = frozenset({"not_hateful", "amplifies", "handled"})
"""Reasons that concern the post or the situation, and say nothing about the draft."""


@dataclass(frozen=True)
class Rejected:
    """A draft rejected for what it says; a reply approved for the same post text elsewhere is preferred to it."""

    example: Example
    reason: str


@dataclass(frozen=True)
class Lesson:
    """All examples derived from one case."""

    examples: tuple[Example, ...] = ()
    preferences: tuple[Preference, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    rejected: tuple[Rejected, ...] = ()


def lesson_of(decided: DecidedCase) -> Lesson:
    """Return a case's examples; none if its reply was retracted, or its post was never triaged."""
    case = decided.case
    if case.triage is None or case.retracted_at is not None:
        return Lesson()
    verdicts = list(_sent_back(decided))
    drafts = [draft for draft in case.drafts if draft.text]
    if case.state in (CaseState.APPROVED, CaseState.RELEASED) and case.final_text:
        last = drafts[-1] if drafts else None
        edited = is_edited(case.final_text, last)
        outcome = Outcome.EDITED if edited else Outcome.APPROVED
        if last is not None:
            blame = _kept(last, case) if edited else ALL
            verdicts.extend(_verdict(decided, last, blame, outcome, "", decided.decider))
        return Lesson(
            (_example(case, case.final_text, outcome, decided.decider),),
            tuple(_preferences(decided, drafts)),
            tuple(verdicts),
        )
    code = _code(case.decided_why)
    if case.state is not CaseState.REJECTED or code not in BLAMED or not drafts:
        return Lesson(verdicts=tuple(verdicts))
    verdicts.extend(_verdict(decided, drafts[-1], BLAMED[code], Outcome.REJECTED, code, decided.decider))
    worse = _example(case, drafts[-1].text, Outcome.REJECTED, decided.decider)
    return Lesson(verdicts=tuple(verdicts), rejected=(Rejected(worse, code),))


def _preferences(decided: DecidedCase, drafts: list[Draft]) -> Iterator[Preference]:
    """Yield preferences for the reply sent: over an edited draft, and over drafts sent back with the same intent."""
    case = decided.case
    final = case.final_text or ""
    for number, draft in enumerate(drafts):
        last = number == len(drafts) - 1
        if draft.text == final or (not last and draft.intent is not drafts[-1].intent):
            continue
        yield Preference(
            **_about(case),
            intent=draft.intent,
            chosen=masked(final),
            rejected=masked(draft.text),
            outcome=Outcome.EDITED if last else Outcome.SENT_BACK,
            raters=(decided.decider,),
        )


def _sent_back(decided: DecidedCase) -> Iterator[Verdict]:
    """Yield a verdict on each draft sent back for another with the same intent; it blames the parts that changed."""
    drafts = decided.case.drafts
    for draft, after, redrafter in zip(drafts, drafts[1:], decided.redrafters, strict=False):
        before, now = _parts(draft, decided.case), _parts(after, decided.case)
        if before is None or now is None or draft.intent is not after.intent:
            continue
        blame = tuple(None if old == new else False for old, new in zip(before, now, strict=True))
        yield from _verdict(decided, draft, (blame[0], blame[1], blame[2]), Outcome.SENT_BACK, "", redrafter)


def _kept(draft: Draft, case: Case) -> Blame:
    """Return which parts of a draft an edited reply kept, as approval; NOTHING if the draft's parts are unknown."""
    parts, final = _parts(draft, case), case.final_text or ""
    if parts is None or case.grounding is None:
        return NOTHING
    _, counter, fact = parts
    forms = [form for item in case.grounding.evidence if item.id == fact for form in (item.text, item.short) if form]
    counter_kept, fact_kept = counter in final, any(form in final for form in forms)
    return (counter_kept or fact_kept, counter_kept, fact_kept)


def _verdict(
    decided: DecidedCase, draft: Draft, blame: Blame, outcome: Outcome, reason: str, rater: str
) -> Iterator[Verdict]:
    parts = _parts(draft, decided.case)
    if parts is None or blame == NOTHING:
        return
    yield Verdict(
        **_about(decided.case),
        case=decided.id,
        intent=draft.intent,
        claim=parts[0],
        counter=parts[1],
        fact=parts[2],
        claim_approved=blame[0],
        counter_approved=blame[1],
        fact_approved=blame[2],
        outcome=outcome,
        reason=reason,
        rater=rater,
    )


def _parts(draft: Draft, case: Case) -> tuple[str, str, str] | None:
    """Return claim, counter-claim and fact of a draft made from sentences on file; None for any other draft."""
    shown = next((each for each in draft.candidates if each.text == draft.text), None)
    if shown is None or shown.origin is not Origin.COMPOSER or not shown.claim or len(shown.facts) != 1:
        return None
    claims = case.grounding.claims if case.grounding else ()
    counters = [counter.text for claim in claims if claim.id == shown.claim for counter in claim.counter_claims]
    counter = max((text for text in counters if text in draft.text), key=len, default=None)
    return None if counter is None else (shown.claim, counter, shown.facts[0])


def _example(case: Case, reply: str, outcome: Outcome, rater: str) -> Example:
    intent = case.draft.intent if case.draft else case.request.intent
    return Example(**_about(case), intent=intent, reply=masked(reply), outcome=outcome, raters=(rater,))


def _about(case: Case) -> dict[str, Any]:
    assert case.triage is not None
    groups = tuple(score.group for score in case.triage.groups)
    return {"post": masked(case.post.text), "language": case.triage.language, "groups": groups}


def _code(reason: str | None) -> str:
    code = (reason or "").partition(":")[0].strip()
    return code if code in BLAMED or code in ABOUT_THE_POST else OTHER.code
