from __future__ import annotations

import asyncio
import logging

import pytest

from bot.changes import Changes, Subscription
from core.domain import CaseState, Transition, now
from core.errors import LedgerUnavailable
from ledger import Ledger
from ledger.history import History
from tests.bot.samples import add_pending, post


def change(number: int) -> Transition:
    return Transition(
        id=number, case_key="forum/1", version=number, from_state=None, to_state=CaseState.RECEIVED, at=now(),
        who="machine", why="",
    )  # fmt: skip


async def test_everybody_gets_every_change_in_order(ledger: Ledger) -> None:
    changes = Changes(ledger.history, every_s=60)
    with changes.subscribe() as first, changes.subscribe() as second:
        task = asyncio.create_task(changes.run())
        while changes.last_id is None:
            await asyncio.sleep(0)
        await add_pending(ledger, post(1))
        changes.nudge()
        for subscriber in (first, second):
            assert await subscriber.next() is None
            seen = [await asyncio.wait_for(subscriber.next(), 60) for _ in range(4)]
            assert [item.to_state for item in seen if item] == ["received", "triaged", "grounded", "pending"]
        task.cancel()


async def test_one_who_was_there_before_the_feed_reads_again_what_the_feed_starts_after(ledger: Ledger) -> None:
    changes = Changes(ledger.history, every_s=60)
    with changes.subscribe() as early:
        await add_pending(ledger, post(1))
        task = asyncio.create_task(changes.run())
        assert await asyncio.wait_for(early.next(), 60) is None
        assert changes.last_id == 4
        task.cancel()


async def test_one_who_falls_behind_is_told_to_start_over() -> None:
    slow = Subscription[Transition](backlog=3)
    for number in range(1, 5):
        slow.offer(change(number))
    assert await slow.next() is None
    assert (after := await slow.next()) is not None
    assert after.id == 4


async def test_what_was_missed_is_replayed_up_to_what_was_handed_out(ledger: Ledger) -> None:
    changes = Changes(ledger.history)
    assert await changes.missed(0) == []
    await add_pending(ledger, post(1))
    changes.last_id = 3
    missed = await changes.missed(1)
    assert missed is not None
    assert [item.id for item in missed] == [2, 3]


async def test_too_much_missed_is_not_replayed(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.changes.PAGE", 2)
    await add_pending(ledger, post(1))
    changes = Changes(ledger.history)
    changes.last_id = 4
    assert await changes.missed(1) is None


class Flaky(History):
    """A history that is away for the first reads."""

    def __init__(self, history: History, failures: int) -> None:
        super().__init__(history._database)
        self._failures = failures

    async def since(self, id: int, limit: int = 500) -> list[Transition]:
        if self._failures:
            self._failures -= 1
            raise LedgerUnavailable("the ledger is away")
        return await super().since(id, limit)


async def test_the_feed_outlives_a_ledger_that_is_away(ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    changes = Changes(Flaky(ledger.history, failures=3), every_s=0.01)
    with changes.subscribe() as subscriber, caplog.at_level(logging.WARNING):
        task = asyncio.create_task(changes.run())
        while changes.last_id is None:
            await asyncio.sleep(0)
        await ledger.stages.receive([post(1)])
        assert await subscriber.next() is None
        seen = await asyncio.wait_for(subscriber.next(), 60)
        task.cancel()
    assert seen is not None
    assert seen.case_key == post(1).key
    assert caplog.text.count("waits for the ledger") == 1


async def test_a_change_that_comes_with_the_end_does_not_keep_the_feed_alive(ledger: Ledger) -> None:
    changes = Changes(ledger.history, every_s=60)
    feed = asyncio.create_task(changes.run())
    while not changes._nudged._waiters:
        await asyncio.sleep(0.001)
    # Both reach the waiting task in the same turn of the loop.
    changes.nudge()
    feed.cancel()
    done, _ = await asyncio.wait({feed}, timeout=5)
    assert done and feed.cancelled()
