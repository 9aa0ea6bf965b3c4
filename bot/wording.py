"""How the desk speaks of a case, the same on every surface."""

from __future__ import annotations

from core.domain import Case, CaseState, now

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
}


def standing(case: Case) -> str:
    """Say in one sentence where a case stands and who brought it there."""
    if case.state in _DECIDED:
        return f"{case.decided_by or 'somebody'} {_DECIDED[case.state]}"
    if case.state is CaseState.PENDING and holder(case):
        return f"{holder(case)} holds it."
    return _STANDING[case.state]


def holder(case: Case) -> str | None:
    """Return who holds the case now; a claim that has run out holds nothing."""
    if case.claimed_by is None or (case.claimed_until is not None and case.claimed_until <= now()):
        return None
    return case.claimed_by
