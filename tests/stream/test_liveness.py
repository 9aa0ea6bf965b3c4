"""A worker is dead when nothing has shown life for longer than the limit, and never while it works."""

from __future__ import annotations

import asyncio
import logging

import pytest

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
    with liveness.working("flags 0:7"):
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


async def test_a_probe_that_never_returns_is_a_failed_one() -> None:
    clock = TurnedClock()
    cleaning = asyncio.Event()

    async def idle() -> bool:
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await asyncio.Event().wait()
        return True

    async with asyncio.timeout(60):
        await Liveness(0.01, clock).watch(idle, every_s=1)
        await cleaning.wait()
    assert clock.slept == [1]


async def test_work_on_one_message_that_never_ends_is_silence_and_names_it(caplog: pytest.LogCaptureFixture) -> None:
    clock = TurnedClock()
    liveness = Liveness(60, clock, longest_work_s=600)
    with liveness.working("grounded 0:7"):
        clock.turn(300)
        with liveness.working("grounded 1:8"):
            clock.turn(350)
        assert not liveness.dead, "others go on"
        with caplog.at_level(logging.ERROR):
            async with asyncio.timeout(60):
                await liveness.watch(never_asked, every_s=20)
    assert clock.slept == [20]
    assert "grounded 0:7 has been worked on for 670 s" in caplog.text


async def never_asked() -> bool:
    raise AssertionError("a worker that works is not probed")


async def test_work_that_lasts_is_told_early_and_each_time_it_has_doubled(caplog: pytest.LogCaptureFixture) -> None:
    clock = TurnedClock()
    liveness = Liveness(60, clock, longest_work_s=600)

    async def idle() -> bool:
        return True

    with liveness.working("grounded 0:7"), caplog.at_level(logging.WARNING):
        assert liveness.work_s() == 0
        async with asyncio.timeout(60):
            await liveness.watch(idle, every_s=50)
        assert liveness.work_s() == 700
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert told == [
        f"grounded 0:7 has been worked on for {seconds} s; this worker is restarted at 660 s"
        for seconds in (100, 250, 550)
    ]
    assert liveness.work_s() == 0
