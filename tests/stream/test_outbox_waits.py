"""The waits of the outbox, without a broker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.child import free_port
from core.domain import FlaggedPost, Route, Triage, now
from core.settings import KafkaSettings, Settings, StreamSettings
from ledger import Ledger
from stream.outbox import OutboxPublisher
from stream.producer import Producer


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[Ledger]:
    opened = await Ledger.open(f"sqlite+aiosqlite:///{tmp_path / 'ledger.db'}", b"key")
    await opened.migrate()
    yield opened
    await opened.close()


async def test_a_row_that_failed_a_thousand_times_waits_no_longer_than_the_limit(ledger: Ledger) -> None:
    """`0.5 * 2**1024` is more than a float holds."""
    post = FlaggedPost(platform="birdsong", post_id="1", text="Zorblaxians ruin everything.")
    triage = Triage(language="en", groups=(), hate=0.1, route=Route.DISMISS, reason="not hateful")
    await ledger.stages.triage(post, triage)
    kafka = KafkaSettings(bootstrap=f"127.0.0.1:{free_port()}", timeout_s=0.2)
    settings = Settings(kafka=kafka, stream=StreamSettings(backoff_s=0.5, backoff_max_s=15))
    async with Producer(kafka) as producer:
        publisher = OutboxPublisher(ledger, producer, settings)
        [row] = await ledger.outbox.lease(publisher._owner, settings.stream.lease_s, 10)
        await publisher._publish_or_put_back(replace(row, attempts=1024))
    assert await ledger.outbox.lease("another", 30, 10) == []
    ledger.outbox._database.clock = lambda: now() + timedelta(seconds=16)
    assert [again.id for again in await ledger.outbox.lease("another", 30, 10)] == [row.id]
