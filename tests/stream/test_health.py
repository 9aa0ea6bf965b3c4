"""A worker is ready when it can read its ledger, reach the broker and has partitions to work on; no answer hangs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from core.errors import LedgerUnavailable
from core.settings import KafkaSettings
from ledger import Ledger
from stream import metrics
from stream.health import LedgerProbe, WorkerHealth
from tests.ports import unused_port


class Pinged:
    """A ledger that answers a ping when it is told to."""

    def __init__(self) -> None:
        self.pings = 0
        self.answers = asyncio.Event()
        self.error: Exception | None = None

    async def ping(self) -> None:
        self.pings += 1
        await self.answers.wait()
        if self.error:
            raise self.error


def probe_of(pinged: Pinged, within_s: float = 60) -> LedgerProbe:
    return LedgerProbe(cast("Ledger", pinged), within_s)


@pytest.fixture
async def bootstrap() -> AsyncIterator[str]:
    """Give an address that accepts connections."""
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    await server.wait_closed()


async def readyz(health: WorkerHealth) -> tuple[int, Any]:
    async with TestClient[web.Request, web.Application](TestServer(health.application())) as client:
        assert (await client.get("/healthz")).status == 200
        assert next(iter(metrics.HANDLED.describe())).name in await (await client.get("/metrics")).text()
        answer = await client.get("/readyz")
        return answer.status, (await answer.json())["away"]


async def test_a_ledger_that_hangs_is_asked_once_and_said_to_be_away() -> None:
    pinged = Pinged()
    probe = probe_of(pinged, within_s=0.01)
    for _ in range(3):
        assert "did not answer" in str(await probe.complaint())
    assert pinged.pings == 1
    pinged.answers.set()
    assert await probe_of(pinged).complaint() is None


async def test_a_ledger_that_is_away_is_asked_anew_each_time_and_only_the_log_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pinged = Pinged()
    pinged.answers.set()
    pinged.error = LedgerUnavailable("nothing answers at db-7")
    probe = probe_of(pinged)
    assert "can't be read" in str(complaint := await probe.complaint()) and "db-7" not in str(complaint)
    assert "db-7" in caplog.text
    pinged.error = None
    assert await probe.complaint() is None


async def test_a_worker_is_ready_with_ledger_broker_and_partitions(bootstrap: str) -> None:
    pinged = Pinged()
    pinged.answers.set()
    health = WorkerHealth(KafkaSettings(bootstrap=bootstrap))
    status, away = await readyz(health)
    assert status == 503 and "waits for the ledger" in away["process"]
    health.ledger = probe_of(pinged)
    status, away = await readyz(health)
    assert status == 503 and set(away) == {"partitions"}
    health.assignment = lambda: ()
    assert (await readyz(health))[0] == 503
    health.assignment = lambda: [("flags", 0)]
    assert await readyz(health) == (200, {})
    pinged.error = LedgerUnavailable("the disk is gone")
    status, away = await readyz(health)
    assert status == 503 and set(away) == {"ledger"}


async def test_a_worker_without_a_broker_is_not_ready() -> None:
    pinged = Pinged()
    pinged.answers.set()
    health = WorkerHealth(KafkaSettings(bootstrap=f"127.0.0.1:{unused_port()}"))
    health.ledger, health.assignment = probe_of(pinged), lambda: [("flags", 0)]
    status, away = await readyz(health)
    assert status == 503 and set(away) == {"broker"}
