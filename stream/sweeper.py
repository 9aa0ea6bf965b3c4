"""The sweeper: send the messages of unfinished cases again.

A case whose next step is automatic but overdue has usually lost its message: the broker kept its topics in memory, or a
worker was killed at the wrong moment. The ledger can rebuild the message. If instead the message is still on its topic
because workers are behind, it is not sent again: a second one would only delay them further.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta

from pydantic import BaseModel

from core.domain import Case, CaseState, FlaggedPost, now
from core.errors import BadMessage, MessageTooLarge, Unavailable
from core.lifecycle import STAGES, StageName, TopicRole
from core.settings import Settings
from ledger import Ledger
from stream import metrics
from stream.messages import Grounded, Triaged, decode, encode
from stream.producer import Producer
from stream.topic_reader import oldest_waiting
from stream.topics import Topics, worker_group

log = logging.getLogger(__name__)

BATCH = 500
QUEUES = {
    CaseState.RECEIVED: (TopicRole.FLAGS,),
    CaseState.TRIAGED: (TopicRole.TRIAGED,),
    CaseState.GROUNDED: (TopicRole.GROUNDED, TopicRole.DRAFTS),
}
"""The topics on which the message of a case in this state may still be waiting."""


def due_message(case: Case) -> tuple[StageName, BaseModel]:
    """Return the stage that a case needs next, and the record that this stage reads."""
    if case.state is CaseState.GROUNDED and (grounded := Grounded.of(case, case.request)):
        return StageName.DRAFT, grounded
    if case.state is CaseState.TRIAGED and case.triage:
        return StageName.GROUND, Triaged(post=case.post, triage=case.triage, number=case.request.number)
    return StageName.TRIAGE, case.post


class Sweeper:
    """The task that finds cases whose message was lost and sends it again."""

    def __init__(self, ledger: Ledger, producer: Producer, settings: Settings) -> None:
        self._ledger = ledger
        self._producer = producer
        self._settings = settings
        self._topics = Topics(settings.kafka.prefix)
        self._queues = [self._topics.named(role) for roles in QUEUES.values() for role in roles]

    async def run(self) -> None:
        """Sweep until cancelled, waiting out outages of broker and ledger."""
        stream = self._settings.stream
        while True:
            try:
                await self._count()
                await self.sweep(now() - timedelta(seconds=stream.stale_after_s))
            except Unavailable as error:
                log.warning("the sweeper waits: %s", error)
            await asyncio.sleep(stream.sweep_every_s)

    async def _count(self) -> None:
        await self._ledger.cases.sum_up_counts()
        for state, count in (await self._ledger.cases.counts()).items():
            metrics.CASES.labels(state.value).set(count)

    async def sweep(self, older_than: datetime, *, topics_are_lost: bool = False) -> int:
        """Send the messages of cases that have not moved since `older_than`; return how many were sent.

        If workers have not read a topic up to that moment, the cases whose message may be there are skipped, unless
        `topics_are_lost`. A case whose message is too large, or whose flag no longer keeps to the limits, fails; the
        others are still sent. Raises BrokerUnavailable or LedgerUnavailable.
        """
        sent, waiting = 0, 0
        states_behind = frozenset() if topics_are_lost else await self._states_behind(older_than)
        while cases := await self._ledger.cases.stale(older_than, BATCH):
            for case in cases:
                if case.state in states_behind:
                    waiting += 1
                else:
                    await self._send_or_fail(case)
                    sent += 1
            await self._ledger.cases.touch([case.key for case in cases])
        if sent:
            log.info("sent %d unfinished cases again", sent)
        if waiting:
            log.info("%d unfinished cases wait on topics that workers are behind with", waiting)
        return sent

    async def _states_behind(self, moment: datetime) -> frozenset[CaseState]:
        """Return the states with an unread message from before `moment`, and update the metric of message ages."""
        kafka = self._settings.kafka
        oldest = await oldest_waiting(kafka, worker_group(kafka), self._queues)
        for topic in self._queues:
            metrics.BEHIND.labels(topic).set((now() - oldest[topic]).total_seconds() if topic in oldest else 0)
        behind = {topic for topic, at in oldest.items() if at < moment}
        return frozenset(state for state, roles in QUEUES.items() if behind & set(map(self._topics.named, roles)))

    async def _send_or_fail(self, case: Case) -> None:
        stage, record = due_message(case)
        message = encode(record)
        try:
            if stage is StageName.TRIAGE:
                # Triage fails no case for a flag that it can't read, so one older than a limit would return for ever.
                decode(message, FlaggedPost)
            await self._producer.send(self._topics.named(STAGES[stage].reads), case.key, message)
            metrics.RESENT.labels(case.state.value).inc()
        except (BadMessage, MessageTooLarge) as error:
            log.error("case %s fails: %s", case.key, error)
            await self._ledger.stages.fail(case.key, stage, str(error), number=case.request.number)
