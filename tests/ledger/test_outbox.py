from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from core.contract import Outcome
from core.domain import CaseState, Route
from ledger import Ledger
from ledger.outbox import Backlog


async def owe(ledger: Ledger, make: Any, number: int) -> None:
    """Fill the outbox with `number` outcomes, due now."""
    for each in range(number):
        await ledger.stages.triage(make.post(each), make.triage(Route.DISMISS))


async def test_an_empty_outbox(ledger: Ledger) -> None:
    assert await ledger.outbox.lease("p", 30, 10) == []
    assert (await ledger.outbox.backlog()).rows == 0


async def test_rows_are_lent_the_longest_due_first_up_to_the_limit(ledger: Ledger, make: Any, clock: Any) -> None:
    for seconds in (3, 1, 2):
        case = await make.bring(ledger, CaseState.PENDING, make.post(seconds))
        await ledger.decisions.reject(case.key, 4, "ana", "no", clock() + timedelta(seconds=seconds))
    assert (await ledger.outbox.backlog()).rows == 0
    clock.pass_s(1)
    assert (await ledger.outbox.backlog()).rows == 1
    clock.pass_s(4)
    assert (await ledger.outbox.backlog()).rows == 3
    assert [row.case_key for row in await ledger.outbox.lease("p", 30, 2)] == ["forum/1", "forum/2"]
    assert [row.case_key for row in await ledger.outbox.lease("q", 30, 2)] == ["forum/3"]
    assert (await ledger.outbox.backlog()).rows == 3


async def test_publishers_that_lease_at_once_never_get_the_same_row(ledger: Ledger, make: Any) -> None:
    await owe(ledger, make, 60)
    owners = [f"publisher {number}" for number in range(6)]
    lent: list[int] = []
    while any(leases := await asyncio.gather(*(ledger.outbox.lease(owner, 30, 4) for owner in owners))):
        lent += [row.id for rows in leases for row in rows]
    assert len(lent) == len(set(lent)) == 60


async def test_a_sent_reply_releases_its_case_and_owes_the_outcome(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.APPROVED)
    clock.pass_s(60)
    (row,) = await ledger.outbox.lease("p", 30, 10)
    assert await ledger.outbox.note_probe(row, "p", {"0": 7, "1": 0})
    assert await ledger.outbox.note_sent(row, "p")
    assert not await ledger.outbox.note_sent(row, "p")
    released = await ledger.cases.get(case.key)
    assert (released.state, released.version) == (CaseState.RELEASED, case.version + 1)
    last = (await ledger.history.of(case.key))[-1]
    assert (last.from_state, last.to_state, last.who) == (CaseState.APPROVED, CaseState.RELEASED, "ana")
    (row,) = await ledger.outbox.lease("p", 30, 10)
    outcome = Outcome.model_validate_json(row.value)
    assert (outcome.state, outcome.who, outcome.text) == (CaseState.RELEASED, "ana", case.final_text)
    assert row.headers == {"idempotency-key": "outcome:forum/1:6"}
    assert await ledger.outbox.note_sent(row, "p")
    assert (await ledger.outbox.backlog()).rows == 0


async def test_a_dead_publishers_row_goes_to_the_next_with_its_probe(ledger: Ledger, make: Any, clock: Any) -> None:
    await owe(ledger, make, 1)
    (row,) = await ledger.outbox.lease("dead", 30, 10)
    assert (row.probe, row.lease) == (None, 1)
    assert await ledger.outbox.note_probe(row, "dead", {"0": 41, "3": 7})
    clock.pass_s(29)
    assert await ledger.outbox.lease("next", 30, 10) == []
    clock.pass_s(1)
    (taken,) = await ledger.outbox.lease("next", 30, 10)
    assert (taken.id, taken.probe, taken.lease) == (row.id, {"0": 41, "3": 7}, 2)
    assert not await ledger.outbox.renew(row, "dead", 30)
    assert await ledger.outbox.note_probe(taken, "next", {"0": 99})
    clock.pass_s(30)
    (taken,) = await ledger.outbox.lease("third", 30, 10)
    assert taken.probe == {"0": 41, "3": 7}


async def test_who_lost_the_lease_can_change_nothing(ledger: Ledger, make: Any, clock: Any) -> None:
    await owe(ledger, make, 1)
    (row,) = await ledger.outbox.lease("slow", 30, 10)
    clock.pass_s(30)
    assert not await ledger.outbox.note_probe(row, "slow", {"0": 1})
    assert not await ledger.outbox.renew(row, "slow", 30)
    (taken,) = await ledger.outbox.lease("next", 30, 10)
    assert not await ledger.outbox.note_probe(row, "slow", {"0": 1})
    assert not await ledger.outbox.renew(row, "slow", 30)
    assert not await ledger.outbox.note_sent(row, "slow")
    assert not await ledger.outbox.retry(row, "slow", "no answer", clock())
    assert await ledger.outbox.note_sent(taken, "next")


async def test_a_lease_that_ran_out_counts_for_nothing_even_when_the_same_publisher_has_the_next(
    ledger: Ledger, make: Any, clock: Any
) -> None:
    await owe(ledger, make, 1)
    (first,) = await ledger.outbox.lease("p", 30, 10)
    clock.pass_s(30)
    (second,) = await ledger.outbox.lease("p", 30, 10)
    assert second.lease == first.lease + 1
    assert not await ledger.outbox.renew(first, "p", 30)
    assert not await ledger.outbox.note_sent(first, "p")
    clock.pass_s(29)
    assert await ledger.outbox.renew(second, "p", 30)
    clock.pass_s(29)
    assert await ledger.outbox.lease("q", 30, 10) == []
    assert await ledger.outbox.note_sent(second, "p")


async def test_a_row_given_back_waits_until_it_is_due_again(ledger: Ledger, make: Any, clock: Any) -> None:
    await owe(ledger, make, 1)
    (row,) = await ledger.outbox.lease("p", 30, 10)
    again = clock() + timedelta(seconds=5)
    assert await ledger.outbox.retry(row, "p", "the broker\0 is away", again)
    assert await ledger.outbox.lease("p", 30, 10) == []
    clock.pass_s(3)
    assert await ledger.outbox.backlog() == Backlog(1, 3.0), "it is owed although it waits"
    clock.pass_s(2)
    (taken,) = await ledger.outbox.lease("q", 30, 10)
    assert (taken.id, taken.lease) == (row.id, 2)


async def test_a_row_that_can_never_be_sent_is_closed_with_its_reason(ledger: Ledger, make: Any, clock: Any) -> None:
    await owe(ledger, make, 1)
    (row,) = await ledger.outbox.lease("p", 30, 10)
    assert not await ledger.outbox.cancel(row, "another", "too large")
    assert await ledger.outbox.cancel(row, "p", "too large")
    clock.pass_s(31)
    assert await ledger.outbox.lease("q", 30, 10) == [] and (await ledger.outbox.backlog()).rows == 0
