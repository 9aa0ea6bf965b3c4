"""Every action in every state: where it leads, or how it is refused. Nothing refused leaves a trace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from core.domain import Case, CaseState, DraftRequest, Route
from core.errors import NotAllowed
from core.lifecycle import TRANSITIONS, StageName
from ledger import Ledger, Reopening, Step

R, T, G, P, A = (
    CaseState.RECEIVED, CaseState.TRIAGED, CaseState.GROUNDED, CaseState.PENDING, CaseState.APPROVED,
)  # fmt: skip
REL, REJ, DIS, ESC, F = (
    CaseState.RELEASED, CaseState.REJECTED, CaseState.DISMISSED, CaseState.ESCALATED, CaseState.FAILED,
)  # fmt: skip
MINUTE = timedelta(minutes=1)
MOVED, AGAIN, LATE = Step.MOVED, Step.AGAIN, Step.LATE
Act = Callable[[Ledger, Case, Any], Awaitable[object]]

STAGES: dict[str, tuple[Act, dict[CaseState, tuple[Step, CaseState]]]] = {
    "triage": (
        lambda ledger, case, make: ledger.stages.triage(case.post, make.triage()),
        {R: (MOVED, T), T: (AGAIN, T)},
    ),
    "dismiss": (
        lambda ledger, case, make: ledger.stages.triage(case.post, make.triage(Route.DISMISS)),
        {R: (MOVED, DIS), DIS: (AGAIN, DIS)},
    ),
    "escalate": (
        lambda ledger, case, make: ledger.stages.triage(case.post, make.triage(Route.ESCALATE)),
        {R: (MOVED, ESC), ESC: (AGAIN, ESC)},
    ),
    "ground": (
        lambda ledger, case, make: ledger.stages.ground(case.key, make.grounding(), DraftRequest()),
        {T: (MOVED, G), G: (AGAIN, G)},
    ),
    "draft": (
        lambda ledger, case, make: ledger.stages.draft(make.draft(case.key)),
        {G: (MOVED, P), P: (AGAIN, P)},
    ),
    "draft of another request": (lambda ledger, case, make: ledger.stages.draft(make.draft(case.key, 2)), {}),
    "revive to received": (
        lambda ledger, case, make: ledger.stages.revive(case.key, R),
        {F: (MOVED, R), R: (AGAIN, R)},
    ),
    "revive to triaged": (
        lambda ledger, case, make: ledger.stages.revive(case.key, T),
        {F: (MOVED, T), T: (AGAIN, T)},
    ),
    "revive to grounded": (
        lambda ledger, case, make: ledger.stages.revive(case.key, G),
        {F: (MOVED, G), G: (AGAIN, G)},
    ),
}  # fmt: skip

FAILS: dict[StageName, set[CaseState]] = {
    StageName.TRIAGE: {R}, StageName.GROUND: {R, T}, StageName.DRAFT: {R, T, G}, StageName.DESK: {R, T, G},
}  # fmt: skip

DECISIONS: dict[str, tuple[Act, dict[CaseState, CaseState]]] = {
    "claim": (
        lambda ledger, case, _: ledger.decisions.claim(case.key, case.version, "bo", case.received_at + MINUTE),
        {P: P},
    ),
    "unclaim": (lambda ledger, case, _: ledger.decisions.unclaim(case.key, case.version, "bo"), {}),
    "approve": (
        lambda ledger, case, _: ledger.decisions.approve(
            case.key, case.version, "bo", "Yes. Indeed.", "", case.received_at + MINUTE
        ),
        {P: A},
    ),
    "reject": (
        lambda ledger, case, _: ledger.decisions.reject(case.key, case.version, "bo", "no", case.received_at + MINUTE),
        {P: REJ},
    ),
    "dismiss": (
        lambda ledger, case, _: ledger.decisions.dismiss(case.key, case.version, "bo", "no", case.received_at + MINUTE),
        {P: DIS},
    ),
    "redraft": (
        lambda ledger, case, _: ledger.decisions.redraft(
            case.key, case.version, "bo", DraftRequest(number=2), "the message"
        ),
        {P: G, F: G},
    ),
    "redraft by another strategy": (
        lambda ledger, case, _: ledger.decisions.redraft(
            case.key, case.version, "bo", DraftRequest(number=2), "the message", to=T
        ),
        {P: T, F: T},
    ),
    "undo": (lambda ledger, case, _: ledger.decisions.undo(case.key, case.version, "bo"), {A: P, REJ: P}),
    "assign": (
        lambda ledger, case, _: ledger.casework.assign(case.key, case.version, "bo", "ana", "she knows it"),
        {G: G, P: P, ESC: ESC},
    ),
    "reopen": (
        lambda ledger, case, _: ledger.casework.reopen(
            case.key, case.version, "bo", "why", Reopening("a message", CaseState.TRIAGED, DraftRequest())
        ),
        {REJ: T, DIS: T, ESC: T},
    ),
    "reopen with evidence": (
        lambda ledger, case, _: ledger.casework.reopen(
            case.key, case.version, "bo", "why", Reopening("a message", CaseState.GROUNDED, DraftRequest(number=2))
        ),
        {REJ: G, DIS: G, ESC: G},
    ),
    "hand over": (
        lambda ledger, case, _: ledger.casework.hand_over(case.key, case.version, "bo", "to the lawyers"),
        {DIS: ESC, ESC: ESC},
    ),
    "handle": (
        lambda ledger, case, _: ledger.casework.handle(case.key, case.version, "bo", ""),
        {REL: REL, REJ: REJ, DIS: DIS, ESC: ESC},
    ),
    "retract": (
        lambda ledger, case, _: ledger.casework.retract(case.key, case.version, "bo", "a wrong fact"),
        {REL: REL},
    ),
    "appeal": (
        lambda ledger, case, _: ledger.casework.appeal(case.key, "forum", "It was a joke."),
        {REL: REL, REJ: REJ, DIS: DIS, ESC: ESC},
    ),
    "note": (
        lambda ledger, case, _: ledger.casework.note(case.key, "bo", "See the other one."),
        {state: state for state in CaseState},
    ),
}


def test_the_lifecycle_has_exactly_the_transitions_that_these_tests_see() -> None:
    """The tables above are tried on the ledger below, each action in each state."""
    stages = {(state, to) for _, allowed in STAGES.values() for state, (step, to) in allowed.items() if step is MOVED}
    failures = {(state, F) for states in FAILS.values() for state in states}
    decisions = {(state, to) for _, allowed in DECISIONS.values() for state, to in allowed.items()}
    # What a moderator dismissed can be undone; what triage dismissed, as in these tables, can't.
    assert stages | failures | decisions | {(None, R), (A, REL), (DIS, P)} == TRANSITIONS


@pytest.mark.parametrize("state", CaseState)
async def test_stage_actions(ledger: Ledger, make: Any, state: CaseState) -> None:
    for number, (name, (act, allowed)) in enumerate(STAGES.items()):
        case = await make.bring(ledger, state, make.post(f"{number}"))
        step, to = allowed.get(state, (LATE, state))
        assert await act(ledger, case, make) is step, name
        await check_trace(ledger, case, to, moved=step is MOVED)
        if step is MOVED:
            assert await act(ledger, case, make) is AGAIN, name
            await check_trace(ledger, case, to, moved=True)


@pytest.mark.parametrize("state", CaseState)
async def test_failing(ledger: Ledger, make: Any, state: CaseState) -> None:
    for stage, failable in FAILS.items():
        case = await make.bring(ledger, state, make.post(stage))
        assert await ledger.stages.fail(case.key, stage, "it broke") is (state in failable), stage
        await check_trace(ledger, case, F if state in failable else state, moved=state in failable)
        assert await ledger.stages.fail(case.key, stage, "it broke") is False


@pytest.mark.parametrize("state", CaseState)
async def test_decisions(ledger: Ledger, make: Any, state: CaseState) -> None:
    for number, (name, (act, allowed)) in enumerate(DECISIONS.items()):
        case = await make.bring(ledger, state, make.post(f"{number}"))
        if state in allowed:
            after = await act(ledger, case, make)
            assert after == await ledger.cases.get(case.key), name
        else:
            with pytest.raises(NotAllowed, match=case.key) as refused:
                await act(ledger, case, make)
            assert refused.value.case == case, name
        await check_trace(ledger, case, allowed.get(state, state), moved=state in allowed)


@pytest.mark.parametrize("to", [P, A, REL, REJ, DIS, ESC, F])
async def test_a_failed_case_is_revived_only_to_unfinished(ledger: Ledger, make: Any, to: CaseState) -> None:
    case = await make.bring(ledger, F)
    with pytest.raises(NotAllowed, match="can't become"):
        await ledger.stages.revive(case.key, to)


async def test_a_case_is_revived_only_as_far_as_it_had_got(ledger: Ledger, make: Any) -> None:
    post = make.post()
    await ledger.stages.receive([post])
    await ledger.stages.fail(post.key, StageName.TRIAGE, "it broke")
    for to in (T, G):
        with pytest.raises(NotAllowed, match="not got as far"):
            await ledger.stages.revive(post.key, to)
    with pytest.raises(NotAllowed, match="before it had evidence"):
        await ledger.decisions.redraft(post.key, 2, "bo", DraftRequest(number=2), "message")
    assert await ledger.stages.revive(post.key, R) is MOVED


async def check_trace(ledger: Ledger, before: Case, to: CaseState, *, moved: bool) -> None:
    case, rows = await ledger.cases.get(before.key), await ledger.history.of(before.key)
    assert case.state is to
    assert case.version == before.version + moved
    assert [row.version for row in rows] == list(range(1, case.version + 1))
    assert [row.from_state for row in rows[1:]] == [row.to_state for row in rows[:-1]]
    assert rows[-1].to_state is to
    if not moved:
        assert case == before
