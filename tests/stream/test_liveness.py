"""A worker is dead when nothing has shown life for longer than the limit, and never while it works."""

from __future__ import annotations

import asyncio

from stream.liveness import Liveness


class Clock:
    """A clock that moves when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_silence_over_the_limit_is_death() -> None:
    clock = Clock()
    liveness = Liveness(60, clock)
    clock.now = 60
    assert not liveness.dead
    clock.now = 61
    assert liveness.dead


def test_a_beat_starts_the_count_anew() -> None:
    clock = Clock()
    liveness = Liveness(60, clock)
    clock.now = 50
    liveness.beat()
    clock.now = 100
    assert not liveness.dead


def test_long_work_is_not_silence() -> None:
    clock = Clock()
    liveness = Liveness(60, clock)
    with liveness.working():
        clock.now = 500
        assert not liveness.dead
    assert liveness.silent_s == 0


async def test_watch_returns_once_probes_fail_for_longer_than_the_limit() -> None:
    clock = Clock()
    answers = iter([True, True, False, False, False])

    async def idle() -> bool:
        clock.now += 30
        return next(answers)

    liveness = Liveness(60, clock)
    async with asyncio.timeout(60):
        await liveness.watch(idle, every_s=0)
    assert clock.now == 150
