"""Send unfinished cases again.

A case that sits in a state in which the machine owes the next step for too long has lost its message: to a broker
that keeps topics in memory, to a worker that was killed at the wrong moment. The ledger has all that the message held.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta

from pydantic import BaseModel

from core.domain import Case, CaseState, now
from core.errors import Unavailable
from core.lifecycle import STAGES, StageName, TopicRole
from core.settings import Settings
from ledger import Ledger
from stream import metrics
from stream.messages import Grounded, Triaged, encode
from stream.producer import Producer
from stream.topics import Topics

log = logging.getLogger(__name__)

BATCH = 500


def due_message(case: Case) -> tuple[TopicRole, BaseModel]:
    """Return the message that the stage which owes the next step waits for: its topic and its record."""
    if case.state is CaseState.GROUNDED and (grounded := Grounded.of(case, case.request)):
        return STAGES[StageName.DRAFT].reads, grounded
    if case.state is CaseState.TRIAGED and case.triage:
        return STAGES[StageName.GROUND].reads, Triaged(post=case.post, triage=case.triage)
    return STAGES[StageName.TRIAGE].reads, case.post


class Sweeper:
    """The search for cases that have lost their message."""

    def __init__(self, ledger: Ledger, producer: Producer, settings: Settings) -> None:
        self._ledger = ledger
        self._producer = producer
        self._settings = settings
        self._topics = Topics(settings.kafka.prefix)

    async def run(self) -> None:
        """Sweep until cancelled; whatever is away is waited for."""
        stream = self._settings.stream
        while True:
            try:
                await self.sweep(now() - timedelta(seconds=stream.stale_after_s))
                for state, count in (await self._ledger.cases.counts()).items():
                    metrics.CASES.labels(state.value).set(count)
            except Unavailable as error:
                log.warning("the sweeper waits: %s", error)
            await asyncio.sleep(stream.sweep_every_s)

    async def sweep(self, older_than: datetime) -> int:
        """Send cases again that have not moved since `older_than`; return how many.

        Raises BrokerUnavailable or LedgerUnavailable.
        """
        total = 0
        while cases := await self._ledger.cases.stale(older_than, BATCH):
            for case in cases:
                role, record = due_message(case)
                await self._producer.send(self._topics.named(role), case.key, encode(record))
                metrics.RESENT.labels(case.state.value).inc()
            await self._ledger.cases.touch([case.key for case in cases])
            total += len(cases)
        if total:
            log.info("sent %d unfinished cases again", total)
        return total
