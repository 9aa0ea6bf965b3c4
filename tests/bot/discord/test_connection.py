"""The waits between connections, without Discord."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from bot.discord.connection import stay_connected
from core.retry import Backoff
from tests.core.turned_clock import TurnedClock


class FlakyClient:
    """A client whose connection lasts for a while on the clock and then breaks; None ends it in peace."""

    ws = object()

    def __init__(self, clock: TurnedClock, lasts_s: float | None) -> None:
        self._clock = clock
        self._lasts_s = lasts_s

    async def start(self, token: str) -> None:
        if self._lasts_s is not None:
            self._clock.turn(self._lasts_s)
            raise aiohttp.ClientConnectionError("cut")

    async def close(self) -> None:
        pass


class EndlessClock(TurnedClock):
    """A clock on which no sleep ends."""

    def __init__(self) -> None:
        super().__init__()
        self.asleep = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.asleep.set()
        await asyncio.Event().wait()


def clients(clock: TurnedClock, lasting_s: list[float]) -> Any:
    """Return what makes a client for each connection, and one that ends in peace."""
    return iter([FlakyClient(clock, lasts_s) for lasts_s in (*lasting_s, None)]).__next__


@pytest.mark.parametrize(
    ("lasting_s", "waits"),
    [
        ([0, 0, 0, 0], [1, 2, 4, 8]),
        ([0, 0, 60, 0], [1, 2, 4, 8]),
        ([0, 0, 86_400, 0, 86_400], [1, 2, 1, 2, 1]),
    ],
)
async def test_waits_grow_and_are_short_again_after_a_connection_that_lasted(
    lasting_s: list[float], waits: list[float]
) -> None:
    clock = TurnedClock()
    async with asyncio.timeout(60):
        await stay_connected(clients(clock, lasting_s), "token", asyncio.Event(), Backoff(1.0, 60.0), clock)
    assert clock.slept == waits


async def test_stop_ends_a_wait() -> None:
    clock, stop = EndlessClock(), asyncio.Event()
    task = asyncio.create_task(stay_connected(clients(clock, [0]), "token", stop, clock=clock))
    await asyncio.wait_for(clock.asleep.wait(), 60)
    stop.set()
    await asyncio.wait_for(task, 60)
