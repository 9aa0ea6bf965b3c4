"""The platform's reader of replies, on purpose with another Kafka client than the publisher's, without a group."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from kafka import KafkaConsumer, TopicPartition

from core.settings import KafkaSettings
from stream.connection import client_options
from stream.ingest import TokenFile
from stream.topics import Topics

QUIET_S = 3.0
"""Seconds without a new record after which a topic counts as read to its end."""


async def replies_by_case(kafka: KafkaSettings) -> dict[str, list[str]]:
    """Return the texts of all replies on the topic, from its beginning, by case key."""
    return await asyncio.to_thread(_read, kafka)


async def dead_letters(kafka: KafkaSettings) -> list[str]:
    """Return the error messages of all dead letters."""
    return await asyncio.to_thread(_errors, kafka)


def _read(kafka: KafkaSettings) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = defaultdict(list)
    with _records(kafka, Topics(kafka.prefix).replies) as values:
        for value in values:
            reply = json.loads(value)
            texts[reply["case_key"]].append(reply["text"])
    return texts


def _errors(kafka: KafkaSettings) -> list[str]:
    with _records(kafka, Topics(kafka.prefix).dead_letters) as values:
        return [json.loads(value)["error"] for value in values]


@contextmanager
def _records(kafka: KafkaSettings, topic: str) -> Iterator[Iterator[bytes]]:
    consumer = KafkaConsumer(
        **client_options(kafka, TokenFile), group_id=None, enable_auto_commit=False, auto_offset_reset="earliest"
    )
    try:
        partitions = consumer.partitions_for_topic(topic) or set()
        consumer.assign([TopicPartition(topic, number) for number in partitions])
        consumer.seek_to_beginning()
        yield _until_quiet(consumer)
    finally:
        consumer.close()


def _until_quiet(consumer: KafkaConsumer) -> Iterator[bytes]:
    last = time.monotonic()
    while time.monotonic() - last < QUIET_S:
        for batch in consumer.poll(timeout_ms=500).values():
            last = time.monotonic()
            yield from (record.value for record in batch)
