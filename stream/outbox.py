"""Publish what the ledger's outbox holds, each message once.

The decision and its outbox row are one transaction, so nothing approved is lost. To publish once, although a publisher
may die between the broker's acknowledgement and the note in the ledger: before the first try the publisher notes where
the topic ends; whoever takes over a row with such a note first looks from there on whether the message, known by its
`idempotency-key`, has already arrived. A row is held by one publisher at a time, by a numbered lease that is renewed
right before the send: who was paused for longer than a lease and wakes up is refused, and sends nothing. A pause within
the send itself is beyond that check; a broker with transactions refuses that publisher (`kafka.transactions`).

A message too large for the broker does not hold up the others. A draft asked for fails its case; a reply or an outcome
stays owed and is tried again now and then, for the broker's limit is the operator's to raise.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from uuid import uuid4

from core.contract import IDEMPOTENCY_KEY
from core.domain import now
from core.errors import BrokerUnavailable, LedgerUnavailable, MessageTooLarge
from core.lifecycle import StageName, TopicRole
from core.retry import SYSTEM_CLOCK, Backoff, Clock, Retry
from core.settings import Settings
from ledger import Ledger, OutboxRow
from stream import metrics
from stream.producer import Producer
from stream.topic_reader import end_offsets, read_topic
from stream.topics import Topics
from stream.transactions import SendReply, transaction

log = logging.getLogger(__name__)

BATCH = 100
PROBED = (TopicRole.REPLIES,)
"""Topics whose readers act on every message; on the others a repeated message is harmless and the look is spared."""

_NEXT_STAGE = {TopicRole.TRIAGED: StageName.GROUND, TopicRole.GROUNDED: StageName.DRAFT}
"""The stage that works on a case which the desk has sent back."""

TOO_LARGE_AGAIN_S = 600.0
"""Seconds until a reply that is too large for the broker is tried again."""


class OutboxPublisher:
    """A publisher that moves due rows from the ledger to Kafka. Several may run, in several processes."""

    def __init__(self, ledger: Ledger, producer: Producer, settings: Settings, clock: Clock = SYSTEM_CLOCK) -> None:
        self._ledger = ledger
        self._producer = producer
        self._settings = settings
        self._clock = clock
        self._topics = Topics(settings.kafka.prefix)
        self._owner = uuid4().hex
        self._backoff = Backoff(settings.stream.backoff_s, settings.stream.backoff_max_s)

    async def run(self) -> None:
        """Publish until cancelled; whatever is away is waited for."""
        retry = Retry(self._backoff, self._clock)
        while True:
            try:
                published = await self.publish_due()
            except LedgerUnavailable as error:
                log.warning("the outbox waits: %s", error)
                await retry.wait()
                continue
            retry.succeeded()
            if not published:
                await self._clock.sleep(self._settings.stream.publish_every_s)

    async def publish_due(self) -> int:
        """Publish what is due now; return how many rows were taken."""
        rows = await self._ledger.outbox.lease(self._owner, self._settings.stream.lease_s, BATCH)
        for row in rows:
            await self._publish_or_put_back(row)
        metrics.OUTBOX_BACKLOG.set(await self._ledger.outbox.backlog())
        return len(rows)

    async def _publish_or_put_back(self, row: OutboxRow) -> None:
        try:
            async with asyncio.timeout(self._settings.stream.lease_s * 0.8):
                await self._publish(row)
        except MessageTooLarge as error:
            await self._put_aside(row, error)
        except (BrokerUnavailable, TimeoutError) as error:
            wait_s = self._backoff.wait_s(row.lease)
            log.warning("outbox row %d waits %.1f s: %s", row.id, wait_s, error)
            await self._ledger.outbox.retry(row, self._owner, str(error), now() + timedelta(seconds=wait_s))

    async def _put_aside(self, row: OutboxRow, error: MessageTooLarge) -> None:
        log.error("outbox row %d of %s: %s", row.id, row.case_key, error)
        if row.topic in _NEXT_STAGE:
            await self._ledger.stages.fail(row.case_key, _NEXT_STAGE[row.topic], str(error))
            await self._ledger.outbox.cancel(row, self._owner, str(error))
        else:
            again = now() + timedelta(seconds=TOO_LARGE_AGAIN_S)
            await self._ledger.outbox.retry(row, self._owner, str(error), again)

    async def _publish(self, row: OutboxRow) -> None:
        topic = self._topics.named(row.topic)
        if row.topic not in PROBED:
            await self._producer.send(topic, row.key, row.value.encode(), row.headers)
        elif self._settings.kafka.transactions:
            async with transaction(self._settings.kafka, row.id) as send:
                if not await self._send_once(row, topic, send):
                    return
        elif not await self._send_once(row, topic, self._producer.send):
            return
        await self._ledger.outbox.sent(row, self._owner)
        metrics.PUBLISHED.labels(row.topic).inc()

    async def _send_once(self, row: OutboxRow, topic: str, send: SendReply) -> bool:
        """Send a message unless it is on its topic already; False when the lease has passed to another publisher."""
        if await self._already_there(row, topic):
            log.info("outbox row %d is on %s already", row.id, topic)
            return True
        if not await self._may_send(row, topic):
            log.warning("outbox row %d was taken over while this publisher was held up", row.id)
            return False
        await send(topic, row.key, row.value.encode(), row.headers)
        return True

    async def _may_send(self, row: OutboxRow, topic: str) -> bool:
        if row.probe is None and not await self._probe(row, topic):
            return False
        return await self._ledger.outbox.renew(row, self._owner, self._settings.stream.lease_s)

    async def _probe(self, row: OutboxRow, topic: str) -> bool:
        """Note where the topic ends; False when the lease has passed to another publisher."""
        ends = await end_offsets(self._settings.kafka, topic)
        return await self._ledger.outbox.note_probe(row, self._owner, {str(part): end for part, end in ends.items()})

    async def _already_there(self, row: OutboxRow, topic: str) -> bool:
        if row.probe is None:
            return False
        since = {int(number): offset for number, offset in row.probe.items()}
        header = (IDEMPOTENCY_KEY, row.headers[IDEMPOTENCY_KEY].encode())
        async for record in read_topic(self._settings.kafka, topic, since):
            if header in record.headers:
                return True
        return False
