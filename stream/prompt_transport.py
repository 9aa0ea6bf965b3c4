"""Faust's Kafka transport with a short wait in each fetch.

A worker asks for all its partitions at once, and the broker holds the answer until one of them has something. Kafka
then answers at once. The embedded broker looks again only after half of the longest wait, which Faust fixes at 1.5 s:
up to 0.75 s a stage, four stages a post.
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
    """The way to Kafka of a Faust app that must not wait for what is there."""

    Consumer = _Consumer
