"""Two desks, or a desk and a publisher, on engines of their own, at the same instant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from core.domain import Case, CaseState
from core.errors import NotAllowed, StaleVersion
from ledger import Ledger, Step, casework, stages
from ledger.transition import move

KEY = b"a key for tests"
RACES = 200


@pytest.fixture
async def other(url: str, clock: Any) -> AsyncIterator[Ledger]:
    ledger = await Ledger.open(url, KEY, clock)
    yield ledger
    await ledger.close()


async def race(*attempts: Any) -> tuple[list[Case], list[BaseException]]:
    results = await asyncio.gather(*attempts, return_exceptions=True)
    winners = [result for result in results if isinstance(result, Case)]
    return winners, [result for result in results if isinstance(result, BaseException)]


async def test_of_two_moderators_one_wins_and_the_other_is_told_who(
    ledger: Ledger, other: Ledger, make: Any, clock: Any
) -> None:
    won = {"ana": 0, "bo": 0}
    for number in range(RACES):
        case = await make.bring(ledger, CaseState.PENDING, make.post(number))
        ana, bo = (ledger, other) if number % 2 else (other, ledger)
        winners, losers = await race(
            ana.decisions.approve(case.key, case.version, "ana", "Yes. Indeed.", "", clock()),
            bo.decisions.reject(case.key, case.version, "bo", "no", clock()),
        )
        assert len(winners) == len(losers) == 1
        winner = str(winners[0].decided_by)
        won[winner] += 1
        deed = "approved" if winner == "ana" else "rejected"
        assert isinstance(losers[0], StaleVersion)
        assert f"was {deed} by {winner} 0 s ago (version 5, you saw 4)" in str(losers[0])
        assert losers[0].case == winners[0] == await other.cases.get(case.key)
        assert len(await ledger.history.of(case.key)) == 5
    assert len(await ledger.outbox.lease("p", 30, 1000)) == RACES
    assert min(won.values()) > 0


async def test_of_a_dismissal_and_an_approval_at_once_one_is_decided_and_one_message_owed(
    ledger: Ledger, other: Ledger, make: Any, clock: Any
) -> None:
    for number in range(40):
        case = await make.bring_in_doubt(ledger, make.post(number))
        ana, bo = (ledger, other) if number % 2 else (other, ledger)
        winners, losers = await race(
            ana.decisions.dismiss(case.key, case.version, "ana", "not_hateful", clock()),
            bo.decisions.approve(case.key, case.version, "bo", "Yes. Indeed.", "edited", clock()),
        )
        assert len(winners) == len(losers) == 1
        assert isinstance(losers[0], StaleVersion) and losers[0].case == winners[0]
    assert len(await ledger.outbox.lease("p", 30, 1000)) == 40


@pytest.mark.parametrize("backend", [pytest.param("postgresql", marks=pytest.mark.live)], indirect=True)
async def test_a_case_that_turns_up_while_a_stage_looks_for_it_is_moved(
    ledger: Ledger, other: Ledger, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL another worker's case may become visible between two statements of one transaction."""
    looked = 0

    async def move_then_let_the_other_receive(*args: Any, **kwargs: Any) -> Any:
        nonlocal looked
        looked += 1
        row = await move(*args, **kwargs)
        if looked == 1:
            assert row is None
            await other.stages.receive([make.post()])
        return row

    monkeypatch.setattr(stages, "move", move_then_let_the_other_receive)
    assert await ledger.stages.triage(make.post(), make.triage()) is Step.MOVED
    assert [row.to_state for row in await ledger.history.of("forum/1")] == [CaseState.RECEIVED, CaseState.TRIAGED]


@pytest.mark.parametrize("backend", [pytest.param("postgresql", marks=pytest.mark.live)], indirect=True)
async def test_a_step_that_waited_for_a_note_follows_it_in_the_chain(
    ledger: Ledger, other: Ledger, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL the statement that waited sees the note's version, and not the row of its history."""
    case = await make.bring(ledger, CaseState.RECEIVED)
    added, waiting = asyncio.Event(), asyncio.Event()
    shown_anew = casework._shown_anew

    async def show_when_the_other_waits(*args: Any) -> Case:
        added.set()
        await waiting.wait()
        return await shown_anew(*args)

    monkeypatch.setattr(casework, "_shown_anew", show_when_the_other_waits)
    note = asyncio.create_task(ledger.casework.note(case.key, "ana", "Look at this one."))
    await added.wait()
    step = asyncio.create_task(other.stages.triage(make.post(), make.triage()))
    await asyncio.sleep(0.3)
    waiting.set()
    await note
    assert await step is Step.MOVED
    assert (await ledger.audit.verify()).broken is None


async def one_after_the_other(first: Any, second: Any) -> list[Any]:
    done = await asyncio.gather(first, return_exceptions=True)
    return [*done, *await asyncio.gather(second, return_exceptions=True)]


async def test_undo_and_lease_never_both_succeed(ledger: Ledger, other: Ledger, make: Any, clock: Any) -> None:
    outcomes = set()
    for number in range(60):
        case = await make.bring(ledger, CaseState.PENDING, make.post(number))
        case = await ledger.decisions.approve(case.key, case.version, "ana", "Yes. Indeed.", "", clock())
        undo = ledger.decisions.undo(case.key, case.version, "ana")
        lease = other.outbox.lease("p", 30, 10)
        if number < 2:  # one of each for certain: races may all end the same way
            undone, rows = (
                await one_after_the_other(undo, lease) if number else reversed(await one_after_the_other(lease, undo))
            )
        else:
            first, second = (undo, lease) if number % 2 else (lease, undo)
            results = await asyncio.gather(first, second, return_exceptions=True)
            undone, rows = results if number % 2 else reversed(results)
        assert isinstance(rows, list)
        if isinstance(undone, Case):
            assert rows == []
        else:
            assert isinstance(undone, NotAllowed)
            assert [row.case_key for row in rows] == [case.key]
            assert await other.outbox.note_sent(rows[0], "p")
            for row in await other.outbox.lease("p", 30, 10):
                await other.outbox.note_sent(row, "p")
        outcomes.add(isinstance(undone, Case))
    assert outcomes == {True, False}


async def test_publishers_on_two_engines_share_the_rows(ledger: Ledger, other: Ledger, make: Any, clock: Any) -> None:
    for number in range(40):
        case = await make.bring(ledger, CaseState.PENDING, make.post(number))
        await ledger.decisions.reject(case.key, case.version, "ana", "no", clock() + timedelta(seconds=1))
    clock.pass_s(1)
    lent = await asyncio.gather(*(each.outbox.lease(f"{n}", 30, 15) for n, each in enumerate([ledger, other] * 4)))
    ids = [row.id for rows in lent for row in rows]
    assert len(ids) == len(set(ids)) == 40


async def test_a_follower_of_the_history_misses_nothing_while_others_write(
    ledger: Ledger, other: Ledger, make: Any
) -> None:
    async def write(start: int) -> None:
        for number in range(start, start + 30):
            await make.bring(ledger, CaseState.PENDING, make.post(number))

    writers = [asyncio.create_task(write(start)) for start in range(0, 120, 30)]
    seen: list[int] = []
    while len(seen) < 480:
        rows = await other.history.since(seen[-1] if seen else 0, limit=50)
        seen += [row.id for row in rows]
        if not rows:
            await asyncio.sleep(0)
        if all(writer.done() for writer in writers) and not rows:
            break
    await asyncio.gather(*writers)
    seen += [row.id for row in await other.history.since(seen[-1])]
    assert len(seen) == len(set(seen)) == 480
    assert seen == sorted(seen)
