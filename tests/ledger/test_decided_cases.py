from __future__ import annotations

from typing import Any

from core.domain import CaseState
from ledger import Ledger

CLOSED = (CaseState.REJECTED, CaseState.RELEASED)


async def test_closed_cases_come_once_their_undo_window_is_over(ledger: Ledger, make: Any, clock: Any) -> None:
    for number, state in enumerate((*CLOSED, CaseState.APPROVED, CaseState.PENDING, CaseState.DISMISSED)):
        await make.bring(ledger, state, make.post(number))
    assert [decided.case.state async for decided in ledger.decided_cases.all()] == [CaseState.RELEASED]
    clock.pass_s(61)
    decided = [each async for each in ledger.decided_cases.all()]
    # Triage dismissed the last one: nobody decided that.
    assert [each.case.state for each in decided] == [*CLOSED, CaseState.APPROVED]
    assert len({each.decider for each in decided}) == 1
    assert not {"ana", "forum/0"} & {word for each in decided for word in (each.decider, each.id)}


async def test_an_erased_case_teaches_nothing(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.RELEASED)
    await ledger.erasure.erase(case.key, "operator", "on request")
    assert [each async for each in ledger.decided_cases.all()] == []
