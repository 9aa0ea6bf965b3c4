"""A worker is dead when nothing has shown life for longer than the limit, and never while it works."""

from __future__ import annotations

import asyncio

from stream.liveness import Liveness
from tests.core.turned_clock import TurnedClock


def test_silence_over_the_limit_is_death() -> None:
    clock = TurnedClock()
    liveness = Liveness(60, clock)
    clock.turn(60)
    assert not liveness.dead
    clock.turn(1)
    assert liveness.dead


def test_activity_starts_the_count_anew() -> None:
    clock = TurnedClock()
    liveness = Liveness(60, clock)
    clock.turn(50)
    liveness.note_activity()
    clock.turn(50)
    assert not liveness.dead


def test_long_work_is_not_silence() -> None:
    clock = TurnedClock()
    liveness = Liveness(60, clock)
    with liveness.working():
        clock.turn(500)
        assert not liveness.dead
    assert liveness.silent_s == 0


async def test_watch_returns_once_probes_fail_for_longer_than_the_limit() -> None:
    clock = TurnedClock()
    answers = iter([True, True, False, False, False])

    async def idle() -> bool:
        return next(answers)

    liveness = Liveness(60, clock)
    async with asyncio.timeout(60):
        await liveness.watch(idle, every_s=30)
    assert clock.slept == [30] * 5
