"""The demo's broker, and the end of the demo."""

from __future__ import annotations

import logging
from typing import Any, cast

import pytest

from core.child import Child
from core.errors import BrokerUnavailable
from core.settings import KafkaSettings, Settings
from rejoinder import demo
from rejoinder.demo import DemoProcesses, drain
from tests.ports import unused_port


async def test_flags_that_are_lost_with_the_broker_are_told_of(caplog: pytest.LogCaptureFixture) -> None:
    kafka = KafkaSettings(bootstrap=f"127.0.0.1:{unused_port()}", timeout_s=5)
    with caplog.at_level(logging.WARNING, "rejoinder"):
        await drain(cast("Any", None), Settings(kafka=kafka))
    assert "flags that were not in the ledger yet are lost" in caplog.text


async def test_a_broker_whose_topics_cannot_be_made_does_not_keep_its_port_from_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[Child] = []

    class Broker:
        async def start(self) -> Child:
            started.append(Child("broker", ["sleep", "60"]))
            await started[-1].start()
            return started[-1]

    async def away(*_: object) -> None:
        raise BrokerUnavailable("It did not answer.")

    monkeypatch.setattr(demo, "ensure_topics", away)
    processes = DemoProcesses(Settings(), cast("Any", None), cast("Any", None), cast("Any", Broker()))
    with pytest.raises(BrokerUnavailable):
        await processes.start_broker()
    assert [broker.running for broker in started] == [False]
