"""Faust's Kafka transport with a short maximum wait per fetch.

A worker fetches from all its partitions at once, and the broker delays the answer until one of them has a message.
Kafka then answers at once. The embedded broker checks again only after half of the maximum wait, which Faust fixes at
1.5 s; that would cost up to 0.75 s in each of the four stages.
"""

from __future__ import annotations

from typing import Any

from faust.transport.drivers import aiokafka

LONGEST_WAIT_MS = 50


class _ConsumerThread(aiokafka.AIOKafkaConsumerThread):
    def _create_worker_consumer(self, *args: Any, **options: Any) -> Any:
        consumer = super()._create_worker_consumer(*args, **options)
        consumer._fetch_max_wait_ms = LONGEST_WAIT_MS
        return consumer


class _Consumer(aiokafka.Consumer):
    def _new_consumer_thread(self) -> Any:
        return _ConsumerThread(self, loop=self.loop, beacon=self.beacon)


class PromptTransport(aiokafka.Transport):
    """Faust's Kafka transport with LONGEST_WAIT_MS as the maximum wait."""

    Consumer = _Consumer
