"""Read topics without joining a consumer group."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from core.errors import BrokerUnavailable
from core.settings import KafkaSettings
from stream import readable_batches
from stream.connection import aiokafka_options

START = 0
EMPTY_POLL_MS = 200
LONG_AGO = datetime.fromtimestamp(0, UTC)


def sent_at(record: ConsumerRecord) -> datetime:
    """Return when a record was sent, or LONG_AGO if its timestamp, which its writer chose, is no moment."""
    try:
        return datetime.fromtimestamp((record.timestamp or 0) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return LONG_AGO


@asynccontextmanager
async def _consumer(settings: KafkaSettings, group: str | None = None) -> AsyncIterator[AIOKafkaConsumer]:
    readable_batches.install()
    consumer = AIOKafkaConsumer(
        **aiokafka_options(settings),
        group_id=group,
        request_timeout_ms=int(settings.timeout_s * 1000),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        # A message of an aborted transaction counts as never sent.
        isolation_level="read_committed" if settings.transactions else "read_uncommitted",
    )
    try:
        await consumer.start()
        yield consumer
    except (KafkaError, OSError) as error:
        raise BrokerUnavailable(f"The broker at {settings.bootstrap} could not be read: {error!r}.") from error
    finally:
        await consumer.stop()


async def end_offsets(settings: KafkaSettings, topic: str) -> dict[int, int]:
    """Return partition -> offset of its next message. Raises BrokerUnavailable."""
    async with _consumer(settings) as consumer:
        return await _ends(consumer, topic)


async def backlog(settings: KafkaSettings, group: str, topics: Collection[str]) -> dict[tuple[str, int], int]:
    """Return (topic, partition) -> number of messages not yet committed by a consumer group.

    Partitions without any are left out. The number includes offsets that hold no message, such as the markers of
    transactions. Only reads; does not join the group. Raises BrokerUnavailable.
    """
    waiting = await _waiting(settings, group, topics)
    return {(place.topic, place.partition): number for place, (number, _) in waiting.items()}


async def oldest_waiting(settings: KafkaSettings, group: str, topics: Collection[str]) -> dict[str, datetime]:
    """Return topic -> when its oldest message not yet committed by a consumer group was sent.

    Topics that the group has read to the end are left out; a topic that could not be read in time, or that has an
    impossible timestamp, gets LONG_AGO. Only reads; does not join the group. Raises BrokerUnavailable.
    """
    oldest: dict[str, datetime] = {}
    for place, (_, at) in (await _waiting(settings, group, topics)).items():
        oldest[place.topic] = min(at, oldest.get(place.topic, at))
    return oldest


async def _waiting(
    settings: KafkaSettings, group: str, topics: Collection[str]
) -> dict[TopicPartition, tuple[int, datetime]]:
    """Return partition -> number of offsets that a group has not committed, and when the first message there was sent.

    Partitions where nothing can be read are left out; one that could not be read in time gets LONG_AGO.
    """
    # The client itself would wait for the group's coordinator for ever.
    async with _consumer(settings, group) as consumer, asyncio.timeout(2 * settings.timeout_s):
        unread = await _uncommitted(consumer, topics)
        consumer.assign(list(unread))
        for place, offsets in unread.items():
            consumer.seek(place, offsets.start)
        waiting: dict[TopicPartition, tuple[int, datetime]] = {}
        deadline = time.monotonic() + settings.timeout_s
        while unread and time.monotonic() < deadline:
            batches = await consumer.getmany(*unread, timeout_ms=EMPTY_POLL_MS)
            for place, offsets in list(unread.items()):
                if records := batches.get(place):
                    waiting[place] = len(offsets), sent_at(records[0])
                # Some offsets hold only transaction markers, which are never returned as records.
                if records or await consumer.position(place) >= offsets.stop:
                    del unread[place]
        return waiting | {place: (len(offsets), LONG_AGO) for place, offsets in unread.items()}


async def _uncommitted(consumer: AIOKafkaConsumer, topics: Collection[str]) -> dict[TopicPartition, range]:
    """Return partition -> the offsets that the consumer's group has not committed and the topic has not yet expired."""
    uncommitted = {}
    for topic in topics:
        ends = {TopicPartition(topic, number): end for number, end in (await _ends(consumer, topic)).items()}
        for place, begin in (await consumer.beginning_offsets(list(ends))).items() if ends else ():
            if offsets := range(max(begin, await consumer.committed(place) or START), ends[place]):
                uncommitted[place] = offsets
    return uncommitted


async def read_topic(
    settings: KafkaSettings, topic: str, since: Mapping[int, int] | None = None
) -> AsyncIterator[ConsumerRecord]:
    """Yield a topic's messages up to its present end, from its beginning or from `since` (partition -> offset).

    An offset beyond the end means that the topic was made anew, and counts as none. Raises BrokerUnavailable.
    """
    async with _consumer(settings) as consumer:
        for number, end in (await _ends(consumer, topic)).items():
            place = TopicPartition(topic, number)
            consumer.assign([place])
            begin = (await consumer.beginning_offsets([place]))[place]
            if end <= begin:
                continue
            wanted = (since or {}).get(number, START)
            consumer.seek(place, begin if wanted > end else max(begin, wanted))
            async for record in _to_end(consumer, place, end, settings.timeout_s):
                yield record


async def _to_end(
    consumer: AIOKafkaConsumer, place: TopicPartition, end: int, longest_silence_s: float
) -> AsyncIterator[ConsumerRecord]:
    """Yield the messages up to `end`, then continue until a poll is empty.

    Tansu 0.6 answers ListOffsets with the *first* offset of the last batch plus one, so stopping at `end` would leave
    the rest of that batch unread.
    """
    deadline = time.monotonic() + longest_silence_s
    while True:
        records = (await consumer.getmany(place, timeout_ms=EMPTY_POLL_MS)).get(place, [])
        for record in records:
            yield record
        if records:
            deadline = time.monotonic() + longest_silence_s
        elif await consumer.position(place) >= end:
            return
        elif time.monotonic() > deadline:
            raise BrokerUnavailable(f"The broker stopped answering while {place.topic} was read; try again.")


async def _ends(consumer: AIOKafkaConsumer, topic: str) -> dict[int, int]:
    await consumer.topics()
    places = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())]
    return {place.partition: end for place, end in (await consumer.end_offsets(places)).items()} if places else {}
