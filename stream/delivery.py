"""Carry one message through one stage: try, wait, try again, bury.

| what happened            | what becomes of the message                                          |
|--------------------------|----------------------------------------------------------------------|
| the stage returned       | sent downstream, then acknowledged                                   |
| BadMessage               | dead letter at once                                                  |
| broker or ledger away    | tried again, with backoff, until they are back: nothing else could go on either |
| a model away             | tried `attempts` times; the last try may do without the model; then dead letter |
| anything else            | tried once more, then dead letter                                    |
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.errors import BadMessage, BrokerUnavailable, LedgerUnavailable, Unavailable
from core.settings import StreamSettings
from stream import metrics
from stream.liveness import Liveness
from stream.stages import Outgoing, Stage

log = logging.getLogger(__name__)

TRIES_ON_A_FAULT = 2


@dataclass(frozen=True)
class Incoming:
    """Be one message as it came from the broker."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


Send = Callable[[Outgoing], Awaitable[None]]
Bury = Callable[[Incoming, str, str], Awaitable[None]]


class Delivery:
    """Run `stage` for messages; `send` passes results on, `bury` takes (message, stage, error) to dead letters.

    `carry` returns only when the message may be acknowledged.
    """

    def __init__(self, stage: Stage, send: Send, bury: Bury, settings: StreamSettings, liveness: Liveness) -> None:
        self._stage = stage
        self._send = send
        self._bury = bury
        self._settings = settings
        self._liveness = liveness

    async def carry(self, message: Incoming) -> None:
        """Handle one message to its end."""
        attempt = 1
        while (error := await self._try(message, attempt)) is not None:
            if self._hopeless(error, attempt):
                await self._give_up(message, error)
                return
            metrics.RETRIED.labels(self._stage.name, type(error).__name__).inc()
            log.warning("%s: try %d of %s failed: %s", self._stage.name, attempt, message.key, error)
            await asyncio.sleep(self._wait_s(attempt))
            attempt += 1
        metrics.HANDLED.labels(self._stage.name).inc()

    async def _try(self, message: Incoming, attempt: int) -> Exception | None:
        last = attempt >= self._settings.attempts
        try:
            with self._liveness.working(), metrics.STAGE_SECONDS.labels(self._stage.name).time():
                outgoing = await self._stage.handle(message.value, last_attempt=last)
                if outgoing is not None:
                    await self._send(outgoing)
        except Exception as error:
            return error
        return None

    def _hopeless(self, error: Exception, attempt: int) -> bool:
        if isinstance(error, BadMessage):
            return True
        if isinstance(error, BrokerUnavailable | LedgerUnavailable):
            return False
        if isinstance(error, Unavailable):
            return attempt >= self._settings.attempts
        return attempt >= TRIES_ON_A_FAULT

    async def _give_up(self, message: Incoming, error: Exception) -> None:
        reason = str(error) if isinstance(error, BadMessage | Unavailable) else f"{type(error).__name__}: {error}"
        exc_info = None if isinstance(error, BadMessage) else error
        log.error("%s: %s goes to dead letters: %s", self._stage.name, message.key, reason, exc_info=exc_info)
        attempt = 1
        while True:
            try:
                await self._bury(message, self._stage.name, reason)
                break
            except (BrokerUnavailable, LedgerUnavailable) as away:
                log.warning("%s: dead letter for %s waits: %s", self._stage.name, message.key, away)
                await asyncio.sleep(self._wait_s(attempt))
                attempt += 1
        metrics.BURIED.labels(self._stage.name).inc()

    def _wait_s(self, attempt: int) -> float:
        return min(self._settings.backoff_s * 2.0 ** min(attempt - 1, 16), self._settings.backoff_max_s)
