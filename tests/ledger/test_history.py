from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from core.domain import CaseState
from ledger import Ledger


async def test_the_database_itself_refuses_to_change_the_past(ledger: Ledger, make: Any, url: str) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    before = await ledger.history.of(case.key)
    attempts = ["UPDATE history SET who = 'nobody'", "DELETE FROM history"]
    engine = create_async_engine(url)
    for sql in attempts if url.startswith("sqlite") else [*attempts, "TRUNCATE history"]:
        with pytest.raises(DBAPIError, match="append-only"):
            async with engine.begin() as connection:
                await connection.execute(text(sql))
    await engine.dispose()
    assert await ledger.history.of(case.key) == before


async def test_every_transition_names_from_to_who_when_and_why(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.RELEASED)
    rows = await ledger.history.of(case.key)
    assert [(row.to_state.value, row.who, row.why) for row in rows] == [
        ("received", "machine", "flagged"),
        ("triaged", "machine", "it blames a group"),
        ("grounded", "machine", "evidence found: 1"),
        ("pending", "machine", "draft 1 from composer"),
        ("approved", "ana", "good"),
        ("released", "ana", "released"),
    ]
    assert {row.at for row in rows} == {clock()}


async def test_an_unknown_case_has_no_history(ledger: Ledger) -> None:
    assert await ledger.history.of("forum/none") == []


async def test_following_the_history_in_steps(ledger: Ledger, make: Any) -> None:
    assert (await ledger.history.since(0), await ledger.history.last_id()) == ([], 0)
    for number in range(3):
        await make.bring(ledger, CaseState.TRIAGED, make.post(number))
    last = await ledger.history.last_id()
    first = await ledger.history.since(0, limit=4)
    rest = await ledger.history.since(first[-1].id)
    assert len(first) == 4
    assert [row.version for row in first + rest] == [1, 2] * 3
    assert rest[-1].id == last
    assert await ledger.history.since(last) == []


async def test_following_the_escalations(ledger: Ledger, make: Any, clock: Any) -> None:
    states = [CaseState.ESCALATED, CaseState.DISMISSED, CaseState.ESCALATED, CaseState.PENDING, CaseState.ESCALATED]
    for number, state in enumerate(states):
        await make.bring(ledger, state, make.post(number))
        clock.pass_s(60)
    start = clock() - timedelta(minutes=5)
    rows = await ledger.history.escalations(0, start)
    assert [row.case_key for row in rows] == ["forum/0", "forum/2", "forum/4"]
    assert {row.to_state for row in rows} == {CaseState.ESCALATED}
    assert await ledger.history.escalations(rows[0].id, start, limit=1) == rows[1:2]
    assert await ledger.history.escalations(0, clock() - timedelta(minutes=1)) == rows[2:]
    assert await ledger.history.escalations(rows[-1].id, start) == []


async def test_the_escalations_that_nobody_has_handled(ledger: Ledger, make: Any) -> None:
    states = [CaseState.ESCALATED, CaseState.DISMISSED, CaseState.ESCALATED, CaseState.ESCALATED, CaseState.ESCALATED]
    cases = [await make.bring(ledger, state, make.post(number)) for number, state in enumerate(states)]
    await ledger.casework.handle(cases[2].key, cases[2].version, "ana", "")
    dismissed = cases[1]
    handed = await ledger.casework.hand_over(dismissed.key, dismissed.version, "bo", "to a lawyer")
    await ledger.casework.hand_over(handed.key, handed.version, "bo", "to the police")
    rows = await ledger.history.unhandled_escalations()
    assert [row.case_key for row in rows] == ["forum/0", "forum/3", "forum/4", "forum/1"]
    assert rows[-1].why == "to a lawyer"
    assert [row.case_key for row in await ledger.history.unhandled_escalations(limit=1)] == ["forum/1"]
