"""Publish the messages in the ledger's outbox, each of them once.

A decision and its outbox row are one transaction, so nothing approved is lost. A publisher may die between the broker's
acknowledgement and its note in the ledger. So that the message is still published only once:

- Before the first try, the publisher notes the end offsets of the topic in the row.
- A publisher that takes over a row with such a note first searches the topic from there for the message, by its
  `idempotency-key`. One search serves all rows of a batch, because no other publisher can send them any more.
- Each row is held under a numbered lease, renewed right before the send. A publisher that was paused for longer than
  its lease fails the renewal and sends nothing.
- A message whose acknowledgement is missing counts as not sent, and the Kafka client does not send it again: the next
  try begins with the search.
- A pause during the send itself is beyond this check, and so is a message that readers can't see yet because it waits
  for its replicas; a broker with transactions closes both gaps (`kafka.transactions`).

A message too large for the broker does not hold up the others. If it requests a draft, its case fails. A reply or an
outcome remains due and is tried again every TOO_LARGE_AGAIN_S seconds, because the operator can raise the broker's
limit.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
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
from stream.messages import request_number
from stream.producer import Producer
from stream.topic_reader import START, end_offsets, read_topic
from stream.topics import Topics
from stream.transactions import SendReply, transaction

log = logging.getLogger(__name__)

BATCH = 100
SAFE_SHARE = 0.8
"""Share of a lease during which a publisher works on the rows it holds."""
PROBED = (TopicRole.REPLIES,)
"""Topics on which duplicates matter, because readers act on every message. On the others the search is skipped."""

_NEXT_STAGE = {TopicRole.TRIAGED: StageName.GROUND, TopicRole.GROUNDED: StageName.DRAFT}
"""The stage that receives a case which the desk has sent back."""

TOO_LARGE_AGAIN_S = 600.0
"""Seconds until a message that is too large for the broker is tried again."""


@dataclass(frozen=True)
class _Look:
    """The state of `replies`: the end offset of each partition, and the idempotency keys since the oldest note."""

    ends: dict[str, int]
    arrived: frozenset[bytes]


class OutboxPublisher:
    """A publisher of the ledger's due outbox rows to Kafka. Several may run, in several processes."""

    def __init__(self, ledger: Ledger, producer: Producer, settings: Settings, clock: Clock = SYSTEM_CLOCK) -> None:
        self._ledger = ledger
        self._producer = producer
        self._settings = settings
        self._clock = clock
        self._topics = Topics(settings.kafka.prefix)
        self._owner = uuid4().hex
        self._batch = BATCH
        self._backoff = Backoff(settings.stream.backoff_s, settings.stream.backoff_max_s)

    async def run(self) -> None:
        """Publish until cancelled, waiting out outages of broker and ledger."""
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
        """Publish what is due now; return how many rows were leased."""
        lease_s = self._settings.stream.lease_s
        rows = await self._ledger.outbox.lease(self._owner, lease_s, self._batch)
        until = self._clock.monotonic() + lease_s * SAFE_SHARE
        try:
            async with asyncio.timeout(lease_s * SAFE_SHARE):
                look = await self._look_for([row for row in rows if row.topic in PROBED])
        except (BrokerUnavailable, TimeoutError) as error:
            self._batch = max(1, self._batch // 2)
            for row in rows:
                await self._put_back(row, error)
        else:
            await self._publish_until(rows, look, until)
        backlog = await self._ledger.outbox.backlog()
        metrics.OUTBOX_BACKLOG.set(backlog.rows)
        metrics.OUTBOX_OLDEST.set(backlog.oldest_s)
        return len(rows)

    async def _publish_until(self, rows: Sequence[OutboxRow], look: _Look, until: float) -> None:
        """Publish until `until`; the remaining rows become free when their leases end.

        Two publishers that lease more rows than they can send would keep taking each other's rows. So after running out
        of time, the next batch has only as many rows as were sent; it doubles again whenever a whole batch is sent.
        """
        for published, row in enumerate(rows):
            if published and self._clock.monotonic() > until:
                self._batch = published
                return
            await self._publish_or_put_back(row, look)
        self._batch = min(BATCH, 2 * self._batch)

    async def _publish_or_put_back(self, row: OutboxRow, look: _Look) -> None:
        try:
            async with asyncio.timeout(self._settings.stream.lease_s * SAFE_SHARE):
                await self._publish(row, look)
        except MessageTooLarge as error:
            await self._put_aside(row, error)
        except (BrokerUnavailable, TimeoutError) as error:
            await self._put_back(row, error)

    async def _put_back(self, row: OutboxRow, error: BrokerUnavailable | TimeoutError) -> None:
        reason = str(error) or "the broker took too long"
        wait_s = self._backoff.wait_s(row.lease)
        log.warning("outbox row %d waits %.1f s: %s", row.id, wait_s, reason)
        await self._ledger.outbox.retry(row, self._owner, reason, now() + timedelta(seconds=wait_s))

    async def _put_aside(self, row: OutboxRow, error: MessageTooLarge) -> None:
        log.error("outbox row %d of %s: %s", row.id, row.case_key, error)
        if row.topic in _NEXT_STAGE:
            stage = _NEXT_STAGE[row.topic]
            number = request_number(row.value.encode(), stage)
            await self._ledger.stages.fail(row.case_key, stage, str(error), number=number)
            await self._ledger.outbox.cancel(row, self._owner, str(error))
        else:
            again = now() + timedelta(seconds=TOO_LARGE_AGAIN_S)
            await self._ledger.outbox.retry(row, self._owner, str(error), again)

    async def _publish(self, row: OutboxRow, look: _Look) -> None:
        topic = self._topics.named(row.topic)
        if row.topic not in PROBED:
            await self._producer.send(topic, row.key, row.value.encode(), row.headers)
        elif self._settings.kafka.transactions:
            async with transaction(self._settings.kafka, row.id) as send:
                # Only a search after the transaction was opened is conclusive.
                if not await self._send_once(row, topic, send, await self._look_for([row])):
                    return
        elif not await self._send_once(row, topic, self._producer.send_once, look):
            return
        await self._ledger.outbox.note_sent(row, self._owner)
        metrics.PUBLISHED.labels(row.topic).inc()

    async def _send_once(self, row: OutboxRow, topic: str, send: SendReply, look: _Look) -> bool:
        """Send a message unless it is already on its topic. Return False if another publisher has the lease now."""
        if row.headers[IDEMPOTENCY_KEY].encode() in look.arrived:
            log.info("outbox row %d is on %s already", row.id, topic)
            return True
        if not await self._may_send(row, look):
            log.warning("outbox row %d was taken over while this publisher was held up", row.id)
            return False
        await send(topic, row.key, row.value.encode(), row.headers)
        return True

    async def _may_send(self, row: OutboxRow, look: _Look) -> bool:
        """Note the topic's end offsets, unless noted before, and renew the lease. Return False if the lease is lost."""
        if row.probe is None and not await self._ledger.outbox.note_probe(row, self._owner, look.ends):
            return False
        return await self._ledger.outbox.renew(row, self._owner, self._settings.stream.lease_s)

    async def _look_for(self, rows: Sequence[OutboxRow]) -> _Look:
        """Search the topic once for all these rows, which no other publisher can send any more."""
        topic, kafka = self._topics.replies, self._settings.kafka
        probes = [row.probe for row in rows if row.probe is not None]
        ends = await end_offsets(kafka, topic) if len(probes) < len(rows) else {}
        arrived: set[bytes] = set()
        if probes:
            since = {int(part): min(probe.get(part, START) for probe in probes) for part in set().union(*probes)}
            async for record in read_topic(kafka, topic, since):
                arrived |= {value for name, value in record.headers if name == IDEMPOTENCY_KEY}
        return _Look({str(part): end for part, end in ends.items()}, frozenset(arrived))
