"""Read a topic as it stands, without a consumer group."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError

from rejoinder.errors import BrokerUnavailable
from rejoinder.settings import KafkaSettings

START = 0


@asynccontextmanager
async def _consumer(settings: KafkaSettings) -> AsyncIterator[AIOKafkaConsumer]:
    consumer = AIOKafkaConsumer(
        bootstrap_servers=settings.bootstrap,
        request_timeout_ms=int(settings.timeout_s * 1000),
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    )
    try:
        await consumer.start()
        yield consumer
    except (KafkaError, OSError) as error:
        raise BrokerUnavailable(f"The broker at {settings.bootstrap} could not be read: {error!r}.") from error
    finally:
        await consumer.stop()


async def end_offsets(settings: KafkaSettings, topic: str) -> dict[int, int]:
    """Return, for each partition, the offset the next message will get; raises BrokerUnavailable."""
    async with _consumer(settings) as consumer:
        return await _ends(consumer, topic)


async def read_topic(
    settings: KafkaSettings, topic: str, since: Mapping[int, int] | None = None
) -> AsyncIterator[ConsumerRecord]:
    """Yield a topic's messages up to its present end, from its beginning or from `since` (partition -> offset).

    Raises BrokerUnavailable.
    """
    async with _consumer(settings) as consumer:
        ends = await _ends(consumer, topic)
        for number, end in ends.items():
            place = TopicPartition(topic, number)
            consumer.assign([place])
            begin = (await consumer.beginning_offsets([place]))[place]
            consumer.seek(place, max(begin, (since or {}).get(number, START)))
            while await consumer.position(place) < end:
                for record in (await consumer.getmany(place, timeout_ms=1000)).get(place, []):
                    if record.offset < end:
                        yield record


async def _ends(consumer: AIOKafkaConsumer, topic: str) -> dict[int, int]:
    await consumer.topics()
    places = [TopicPartition(topic, number) for number in sorted(consumer.partitions_for_topic(topic) or ())]
    return {place.partition: end for place, end in (await consumer.end_offsets(places)).items()} if places else {}
