"""The waits of intake, without a broker."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

import pytest

from core.errors import BrokerUnavailable
from core.settings import KafkaSettings, Settings, StreamSettings
from stream.intake import Intake
from tests.core.turned_clock import TurnedClock


async def test_waits_longer_and_longer_while_the_broker_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, done = TurnedClock(), asyncio.Event()
    settings = Settings(stream=StreamSettings(backoff_s=0.5, backoff_max_s=2))
    intake = Intake(cast("Any", None), settings, clock)

    async def follow() -> None:
        if len(clock.slept) == 4:
            done.set()
        raise BrokerUnavailable("away")

    monkeypatch.setattr(intake, "_follow", follow)
    following = asyncio.create_task(intake.run())
    await asyncio.wait_for(done.wait(), 60)
    following.cancel()
    assert clock.slept[:4] == [0.5, 1.0, 2.0, 2.0]


async def test_flags_that_could_not_be_read_in_time_are_told_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    intake = Intake(cast("Any", None), Settings(kafka=KafkaSettings(timeout_s=0.01)))
    monkeypatch.setattr(intake, "_caught_up", asyncio.Event().wait)
    with caplog.at_level(logging.WARNING):
        await intake.drain()
    assert "could not read all flags" in caplog.text
