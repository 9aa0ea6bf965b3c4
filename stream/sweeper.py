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
from core.errors import MessageTooLarge, Unavailable
from core.lifecycle import STAGES, StageName
from core.settings import Settings
from ledger import Ledger
from stream import metrics
from stream.messages import Grounded, Triaged, encode
from stream.producer import Producer
from stream.topics import Topics

log = logging.getLogger(__name__)

BATCH = 500


def due_message(case: Case) -> tuple[StageName, BaseModel]:
    """Return the stage that owes a case its next step, and the record that stage waits for."""
    if case.state is CaseState.GROUNDED and (grounded := Grounded.of(case, case.request)):
        return StageName.DRAFT, grounded
    if case.state is CaseState.TRIAGED and case.triage:
        return StageName.GROUND, Triaged(post=case.post, triage=case.triage)
    return StageName.TRIAGE, case.post


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
                await self._ledger.cases.sum_up_counts()
                for state, count in (await self._ledger.cases.counts()).items():
                    metrics.CASES.labels(state.value).set(count)
            except Unavailable as error:
                log.warning("the sweeper waits: %s", error)
            await asyncio.sleep(stream.sweep_every_s)

    async def sweep(self, older_than: datetime) -> int:
        """Send cases again that have not moved since `older_than`; return how many were looked at.

        A case whose message is too large for the broker fails, and the others go on. Raises BrokerUnavailable or
        LedgerUnavailable.
        """
        total = 0
        while cases := await self._ledger.cases.stale(older_than, BATCH):
            for case in cases:
                await self._send_or_fail(case)
            await self._ledger.cases.touch([case.key for case in cases])
            total += len(cases)
        if total:
            log.info("sent %d unfinished cases again", total)
        return total

    async def _send_or_fail(self, case: Case) -> None:
        stage, record = due_message(case)
        try:
            await self._producer.send(self._topics.named(STAGES[stage].reads), case.key, encode(record))
            metrics.RESENT.labels(case.state.value).inc()
        except MessageTooLarge as error:
            log.error("case %s fails: %s", case.key, error)
            await self._ledger.stages.fail(case.key, stage, str(error))
