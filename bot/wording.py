"""How the desk speaks of cases, intents and lengths of time, the same on every surface."""

from __future__ import annotations

from datetime import timedelta

from core.domain import Case, CaseState, Intent, StrategyName, now

_STANDING = {
    CaseState.RECEIVED: "it was received and waits for triage.",
    CaseState.TRIAGED: "it was triaged and waits for evidence.",
    CaseState.GROUNDED: "a new draft is being written.",
    CaseState.PENDING: "it waits for a decision.",
    CaseState.DISMISSED: "it was dismissed without a reply.",
    CaseState.ESCALATED: "it was escalated to people.",
    CaseState.FAILED: "it failed.",
}
_DECIDED = {
    CaseState.APPROVED: "approved it.",
    CaseState.RELEASED: "approved it, and the reply has left.",
    CaseState.REJECTED: "rejected it.",
    CaseState.DISMISSED: "dismissed it as not hateful.",
}
IN_DOUBT = "Is this hateful at all?"
"""What a moderator is asked of a case in doubt."""
INTENT_WORDS = {
    Intent.INFORMATIVE: "give the facts",
    Intent.QUESTIONING: "ask a question back",
    Intent.DENOUNCING: "say clearly that it is wrong",
    Intent.POSITIVE: "stand by those attacked",
}
"""What a reply of each intent sets out to do."""
STRATEGY_WORDS = {
    StrategyName.COMPOSE: "words on file",
    StrategyName.LOCKED: "a sentence of the model and a fact on file",
    StrategyName.FREE: "replies of the model on the evidence",
    StrategyName.PLAIN: "the model on summaries of three paragraphs",
    StrategyName.CLAIM_GUIDED: "a counter-claim chosen by vote, and its evidence",
    StrategyName.INTENT_FRAMES: "the intent, after a reading of the post",
    StrategyName.TOURNAMENT: "the best of all, by duels; slow",
}
"""How a draft comes about by each strategy."""
STATE_HEADINGS = {
    CaseState.TRIAGED: "Search for evidence under way",
    CaseState.GROUNDED: "New draft under way",
    CaseState.APPROVED: "Approved",
    CaseState.RELEASED: "Released",
    CaseState.REJECTED: "Rejected",
    CaseState.DISMISSED: "Dismissed",
    CaseState.ESCALATED: "Escalated",
    CaseState.FAILED: "Failed",
}
"""The word before a card's title; a case that waits for a decision has none."""


def intent_label(intent: Intent) -> str:
    """Return an intent's name with what it sets out to do, for menus."""
    return f"{intent}: {INTENT_WORDS[intent]}"


def standing(case: Case) -> str:
    """Say in one sentence where a case stands and who brought it there."""
    if case.state in _DECIDED and (case.decided_by or case.state not in _STANDING):
        return f"{case.decided_by or 'somebody'} {_DECIDED[case.state]}"
    if case.state is CaseState.PENDING and holder(case):
        return f"{holder(case)} holds it."
    return _STANDING[case.state]


def hate_probability(case: Case) -> str:
    """Return how likely the post is hateful, for example `12 %`."""
    return f"{round(100 * case.triage.hate)} %" if case.triage else "unknown"


def holder(case: Case) -> str | None:
    """Return who holds the case now; a claim that has run out holds nothing."""
    if case.claimed_by is None or (case.claimed_until is not None and case.claimed_until <= now()):
        return None
    return case.claimed_by


def duration(length: timedelta) -> str:
    """Return a length of time in its largest fitting unit."""
    seconds = max(0, round(length.total_seconds()))
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
