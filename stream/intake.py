"""Intake: write every flag into the ledger as soon as it is on the topic, without waiting for triage.

Triage takes its time over each post. Because the ledger knows of the post earlier, moderators see what is waiting, and
nothing is lost if the broker keeps its topics in memory. Intake has its own consumer group, works in batches and
commits offsets after the ledger has stored the batch.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

from aiokafka import AIOKafkaConsumer, ConsumerRecord
from aiokafka.errors import KafkaError

from core.domain import FlaggedPost
from core.errors import BadMessage, BrokerUnavailable, Unavailable
from core.retry import SYSTEM_CLOCK, Backoff, Clock, Retry
from core.settings import Settings
from ledger import Ledger
from stream import readable_batches
from stream.connection import aiokafka_options
from stream.messages import decode
from stream.topic_reader import read_topic
from stream.topics import Topics

log = logging.getLogger(__name__)

BATCH = 500


class Intake:
    """A consumer of the `flags` topic that writes the flags into the ledger."""

    def __init__(self, ledger: Ledger, settings: Settings, clock: Clock = SYSTEM_CLOCK) -> None:
        self._ledger = ledger
        self._settings = settings
        self._retry = Retry(Backoff(settings.stream.backoff_s, settings.stream.backoff_max_s), clock)

    async def run(self) -> None:
        """Follow the topic until cancelled, waiting out outages of broker and ledger."""
        while True:
            try:
                await self._follow()
            except Unavailable as error:
                log.warning("intake waits: %s", error)
            await self._retry.wait()

    async def _follow(self) -> None:
        consumer = self._consumer()
        try:
            await consumer.start()
            while True:
                batches = await consumer.getmany(timeout_ms=1000, max_records=BATCH)
                if batches:
                    await self._receive(posts(record for batch in batches.values() for record in batch))
                    await consumer.commit()
                    self._retry.succeeded()
        except (KafkaError, OSError) as error:
            raise BrokerUnavailable(f"The broker at {self._settings.kafka.bootstrap} is away: {error!r}.") from error
        finally:
            await consumer.stop()

    async def drain(self) -> None:
        """Write what is on the topic now, then return; for an orderly shutdown with a broker that keeps nothing.

        Raises BrokerUnavailable or LedgerUnavailable if the remaining flags can't be saved.
        """
        limit_s = self._settings.kafka.timeout_s
        try:
            async with asyncio.timeout(limit_s):
                await self._caught_up()
        except TimeoutError:
            log.warning("intake could not read all flags within %.0f s", limit_s)

    async def _caught_up(self) -> None:
        topic = Topics(self._settings.kafka.prefix).flags
        batch: list[FlaggedPost] = []
        async for record in read_topic(self._settings.kafka, topic):
            batch.extend(posts([record]))
            if len(batch) >= BATCH:
                await self._receive(batch)
                batch = []
        await self._receive(batch)

    async def _receive(self, batch: Sequence[FlaggedPost]) -> None:
        """Write a batch; posts that the ledger refuses are left to triage, which makes them dead letters."""
        try:
            await self._ledger.stages.receive(batch)
        except Unavailable:
            raise
        except Exception as error:
            if len(batch) == 1:
                log.error("intake: the ledger refuses %s (%s)", batch[0].key, type(error).__name__)
                return
            middle = len(batch) // 2
            await self._receive(batch[:middle])
            await self._receive(batch[middle:])

    def _consumer(self) -> AIOKafkaConsumer:
        readable_batches.install()
        kafka = self._settings.kafka
        return AIOKafkaConsumer(
            Topics(kafka.prefix).flags,
            **aiokafka_options(kafka),
            group_id=f"{kafka.prefix}intake",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=int(kafka.session_timeout_s * 1000),
            heartbeat_interval_ms=int(kafka.session_timeout_s * 1000 / 3),
            request_timeout_ms=int(kafka.timeout_s * 1000),
        )


def posts(records: Iterable[ConsumerRecord]) -> list[FlaggedPost]:
    """Return the posts in the records; unreadable ones are left to triage, which makes them dead letters."""
    readable = []
    for record in records:
        try:
            readable.append(decode(record.value, FlaggedPost))
        except BadMessage:
            continue
    return readable
