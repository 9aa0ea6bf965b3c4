"""The worker's consumer must not let a broker hold its messages back."""

from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread

from stream import prompt_transport


async def test_the_workers_consumer_waits_shortly_in_a_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    fausts = AIOKafkaConsumer(fetch_max_wait_ms=1500)
    assert fausts._fetch_max_wait_ms == 1500

    def create(self: Any, transport: Any) -> AIOKafkaConsumer:
        return fausts

    monkeypatch.setattr(AIOKafkaConsumerThread, "_create_worker_consumer", create)
    thread: Any = object.__new__(prompt_transport._ConsumerThread)
    assert thread._create_worker_consumer(None)._fetch_max_wait_ms == prompt_transport.LONGEST_WAIT_MS
    await fausts.stop()
