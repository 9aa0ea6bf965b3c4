"""Explain why a decision was refused: somebody was faster, another moderator has the case, or its state forbids it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from core.domain import Action, Case, CaseState, EventKind, Transition
from core.errors import CaseConflict, CaseNotFound, ClaimedByOther, NotAllowed, StaleVersion
from ledger.attempt import Attempt
from ledger.connection import Connection
from ledger.history import latest_of
from ledger.rows import find_case


async def conflict_of(
    connection: Connection, attempt: Attempt, states: Collection[CaseState], at: datetime, otherwise: str
) -> CaseConflict:
    """Return the error for an attempt that changed nothing; `otherwise` is the explanation if no other applies."""
    case = await find_case(connection, attempt.key)
    if case is None:
        return CaseNotFound(f"there is no case {attempt.key}; look its key up in the queue")
    if case.version != attempt.version:
        return StaleVersion(_who_was_faster(case, await latest_of(connection, case.key), attempt, at), case)
    if case.erased_at is not None:
        return NotAllowed(f"the texts of case {case.key} were erased; nothing can be done with it any more", case)
    if case.state not in states:
        return NotAllowed(
            f"case {case.key} is {case.state}, so you can't {attempt.verb} it; "
            f"that takes a case that is {' or '.join(states)}", case,
        )  # fmt: skip
    if case.claimed_by not in (None, attempt.who) and case.claimed_until is not None and case.claimed_until > at:
        return ClaimedByOther(
            f"case {case.key} is claimed by {case.claimed_by} for another {_span(case.claimed_until - at)}; "
            "ask them, or wait", case,
        )  # fmt: skip
    return NotAllowed(f"case {case.key} {otherwise}", case)


def _who_was_faster(case: Case, latest: Transition, attempt: Attempt, at: datetime) -> str:
    return (
        f"case {case.key} was {_what_happened(case, latest)} by {latest.who} {_span(at - latest.at)} ago "
        f"(version {case.version}, you saw {attempt.version}); look at it again"
    )


_DEEDS = {
    EventKind.NOTE: "noted on",
    EventKind.APPEAL: "appealed against",
    EventKind.EVIDENCE: "given more evidence",
    Action.CLAIM: "claimed",
    Action.RELEASE: "unclaimed",
    Action.REDRAFT: "sent for another draft",
    Action.UNDO: "taken back",
    Action.ASSIGN: "assigned",
    Action.REOPEN: "opened again",
    Action.HAND_OVER: "handed over",
    Action.HANDLE: "marked as handled",
    Action.RETRACT: "retracted",
}


def _what_happened(case: Case, latest: Transition) -> str:
    if latest.kind in _DEEDS:
        return _DEEDS[latest.kind]
    # Rows of automatic steps, and of releases that did not record the kind.
    match latest.from_state, latest.to_state:
        case CaseState.PENDING, CaseState.PENDING:
            return "claimed" if case.claimed_by else "unclaimed"
        case CaseState.GROUNDED, CaseState.PENDING:
            return "drafted"
        case ((CaseState.APPROVED | CaseState.REJECTED | CaseState.DISMISSED), CaseState.PENDING):
            return "taken back"
        case ((CaseState.PENDING | CaseState.FAILED), (CaseState.TRIAGED | CaseState.GROUNDED)):
            return "sent for another draft"
        case (
            (CaseState.REJECTED | CaseState.DISMISSED | CaseState.ESCALATED),
            (CaseState.TRIAGED | CaseState.GROUNDED),
        ):
            return "opened again"
        case _, state:
            return str(state)


def _span(span: timedelta) -> str:
    seconds = max(0, int(span.total_seconds()))
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
