"""The way of one message through one stage: try, wait, try again, give up.

| what happened            | what becomes of the message                                          |
|--------------------------|----------------------------------------------------------------------|
| the stage returned       | sent downstream, then acknowledged                                   |
| no good signature        | dead letter at once, and the case stays as it is                     |
| BadMessage               | dead letter at once                                                  |
| result too large to send | dead letter at once                                                  |
| the worker ended         | tried by the next, `attempts` times in all, 3 at least; then dead letter |
| broker, ledger or embedding server away | tried again, with backoff, until it is back: nothing else could go on |
| another model away       | tried `attempts` times; the last try may do without the model; then dead letter |
| anything else            | tried once more, then dead letter                                    |
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from core.errors import (
    BadMessage,
    BrokerUnavailable,
    EmbedderUnavailable,
    LedgerUnavailable,
    MessageTooLarge,
    Unavailable,
    UnsignedMessage,
    describe_errors,
)
from core.lifecycle import StageName
from core.retry import SYSTEM_CLOCK, Backoff, Clock, Retry
from core.settings import StreamSettings
from stream import metrics
from stream.in_hand import InHand
from stream.liveness import Liveness
from stream.signing import Signatures
from stream.stages import Outgoing, Stage

log = logging.getLogger(__name__)

TRIES_ON_A_FAULT = 2
OUTAGES = (BrokerUnavailable, LedgerUnavailable, EmbedderUnavailable)
"""What is waited for however long: no message could go on without it."""


@dataclass(frozen=True)
class Incoming:
    """One message as it came from the broker."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


Send = Callable[[Outgoing], Awaitable[None]]


class WriteDeadLetter(Protocol):
    """The way of a message to dead letters; `dead_letters.DeadLetterWriter.write` is the product's."""

    async def __call__(
        self, message: Incoming, stage: StageName, error: str, *, undelivered: bool = False, fails_case: bool = True
    ) -> None:
        """Write a letter and fail the case; raises BrokerUnavailable or LedgerUnavailable."""


class Delivery:
    """The runs of `stage`; `send` passes results on, `write_dead_letter` gets what nobody can work on, and why.

    No stage sees a message that `signatures` does not find good, or that workers ended on too often by what `in_hand`
    says.
    `deliver` returns only when the message may be acknowledged.
    """

    def __init__(
        self,
        stage: Stage,
        signatures: Signatures,
        send: Send,
        write_dead_letter: WriteDeadLetter,
        settings: StreamSettings,
        liveness: Liveness,
        in_hand: InHand,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._stage = stage
        self._signatures = signatures
        self._send = send
        self._write_dead_letter = write_dead_letter
        self._settings = settings
        self._liveness = liveness
        self._in_hand = in_hand
        self._clock = clock
        self._backoff = Backoff(settings.backoff_s, settings.backoff_max_s)

    async def deliver(self, message: Incoming) -> None:
        """Handle one message to its end."""
        tries, outages = Retry(self._backoff, self._clock, self._settings.attempts), Retry(self._backoff, self._clock)
        while (error := await self._try(message, tries.is_last_attempt)) is not None:
            is_away = isinstance(error, OUTAGES)
            if not is_away and self._should_give_up(error, tries):
                await self._give_up(message, error)
                return
            # What waited out an outage has used up none of its tries.
            retry = outages if is_away else tries
            metrics.RETRIED.labels(self._stage.name, type(error).__name__).inc()
            log.warning("%s: try %d of %s failed: %s", self._stage.name, retry.attempt, message.key, _reason(error)[0])
            await retry.wait()
        metrics.HANDLED.labels(self._stage.name).inc()

    async def _try(self, message: Incoming, last_attempt: bool) -> Exception | None:
        content = b"%b %b" % (message.key or b"", message.value or b"")
        try:
            async with self._in_hand.noted(message.topic, message.partition, message.offset, content):
                with (
                    self._liveness.working(f"{message.topic} {message.partition}:{message.offset}"),
                    metrics.STAGE_SECONDS.labels(self._stage.name).time(),
                ):
                    self._signatures.verify(message.topic, message.key, message.value, message.headers)
                    outgoing = await self._stage.handle(message.value, last_attempt=last_attempt)
                    if outgoing is not None:
                        await self._send(outgoing)
        except Exception as error:
            return error
        return None

    def _should_give_up(self, error: Exception, tries: Retry) -> bool:
        if isinstance(error, BadMessage | MessageTooLarge):
            return True
        if isinstance(error, Unavailable):
            return tries.is_last_attempt
        return tries.attempt >= TRIES_ON_A_FAULT

    async def _give_up(self, message: Incoming, error: Exception) -> None:
        reason, exc_info = _reason(error)
        log.error("%s: %s goes to dead letters: %s", self._stage.name, message.key, reason, exc_info=exc_info)
        retry = Retry(self._backoff, self._clock)
        while True:
            try:
                await self._write_dead_letter(
                    message, self._stage.name, reason,
                    undelivered=isinstance(error, MessageTooLarge),
                    fails_case=not isinstance(error, UnsignedMessage),
                )  # fmt: skip
                break
            except (BrokerUnavailable, LedgerUnavailable) as away:
                log.warning("%s: dead letter for %s waits: %s", self._stage.name, message.key, away)
                await retry.wait()
            except Exception:
                # One letter that can't be written must not end the stage; the message itself stays on its topic.
                log.critical(
                    "%s: no dead letter could be written for %s %d:%d",
                    self._stage.name, message.topic, message.partition, message.offset, exc_info=True,
                )  # fmt: skip
                return
        metrics.DEAD_LETTERS.labels(self._stage.name).inc()


def _reason(error: Exception) -> tuple[str, Exception | None]:
    """Return what a dead letter says of an error, and the traceback to log; a validation's would quote the text."""
    if isinstance(error, BadMessage | MessageTooLarge):
        return str(error), None
    if isinstance(error, ValidationError):
        return f"{error.title}: {describe_errors(error)}", None
    return (str(error) if isinstance(error, Unavailable) else f"{type(error).__name__}: {error}"), error
