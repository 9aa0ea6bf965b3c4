"""The waits of the outbox, without a broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text

from core.child import free_port
from core.domain import Route, now
from core.errors import LedgerUnavailable
from core.settings import KafkaSettings, Settings, StreamSettings
from ledger import Ledger, OutboxRow
from stream.outbox import OutboxPublisher
from stream.producer import Producer
from tests.core.turned_clock import TurnedClock
from tests.factories import make_post, make_triage
from tests.new_ledger import KEY, new_sqlite


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    opened = await Ledger.open(new_sqlite(tmp_path), KEY)
    yield opened
    await opened.close()


async def test_a_row_that_failed_a_thousand_times_waits_no_longer_than_the_limit(ledger: Ledger) -> None:
    """`0.5 * 2**1024` is more than a float holds."""
    await ledger.stages.triage(make_post(), make_triage(route=Route.DISMISS))
    kafka = KafkaSettings(bootstrap=f"127.0.0.1:{free_port()}", timeout_s=0.2)
    settings = Settings(kafka=kafka, stream=StreamSettings(backoff_s=0.5, backoff_max_s=15))
    async with Producer(kafka) as producer:
        publisher = OutboxPublisher(ledger, producer, settings)
        async with ledger._database.write() as connection:
            await connection.execute(text("UPDATE outbox SET attempts = 1023"))
        assert await publisher.publish_due() == 1
    assert REGISTRY.get_sample_value("rejoinder_outbox_backlog") == 1
    assert REGISTRY.get_sample_value("rejoinder_outbox_oldest_seconds")
    assert await ledger.outbox.lease("another", 30, 10) == []
    ledger.outbox._database.clock = lambda: now() + timedelta(seconds=16)
    [row] = await ledger.outbox.lease("another", 30, 10)
    assert row.lease == 1025


async def test_who_is_too_slow_for_a_lease_takes_fewer_rows_until_it_gets_through(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that each took more than they could send were seen to take each other's rows for ever."""
    for number in range(9):
        await ledger.stages.triage(make_post(number), make_triage(route=Route.DISMISS))
    clock = TurnedClock()
    async with Producer(KafkaSettings(bootstrap=f"127.0.0.1:{free_port()}", timeout_s=0.2)) as producer:
        monkeypatch.setattr(producer, "send", AsyncMock(side_effect=lambda *message: clock.turn(10)))
        publisher = OutboxPublisher(ledger, producer, Settings(stream=StreamSettings(lease_s=30)), clock)
        assert await publisher.publish_due() == 9, "and sends three of them"
        ledger.outbox._database.clock = lambda: now() + timedelta(seconds=31)
        assert await publisher.publish_due() == 3
        monkeypatch.setattr(producer, "send", AsyncMock())
        assert await publisher.publish_due() == 3
        assert (await ledger.outbox.backlog()).rows == 0


async def test_waits_longer_while_the_ledger_is_away_and_looks_often_again_afterwards(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(stream=StreamSettings(backoff_s=0.5, backoff_max_s=15, publish_every_s=0.2))
    is_away = iter([True, True, True, False, False, True])
    clock, done = TurnedClock(), asyncio.Event()

    async def lease(owner: str, lease_s: float, limit: int) -> list[OutboxRow]:
        away = next(is_away, None)
        if away is None:
            done.set()
        if away:
            raise LedgerUnavailable("away")
        return []

    monkeypatch.setattr(ledger.outbox, "lease", lease)
    async with Producer(KafkaSettings(bootstrap=f"127.0.0.1:{free_port()}", timeout_s=0.2)) as producer:
        publishing = asyncio.create_task(OutboxPublisher(ledger, producer, settings, clock).run())
        await asyncio.wait_for(done.wait(), 60)
        publishing.cancel()
    assert clock.slept[:6] == [0.5, 1.0, 2.0, 0.2, 0.2, 0.5]
