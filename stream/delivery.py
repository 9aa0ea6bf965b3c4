"""How one message is taken through one stage: when it is tried again, and when it becomes a dead letter.

| what happened            | what happens to the message                                          |
|--------------------------|----------------------------------------------------------------------|
| the stage returned       | sent downstream, then acknowledged                                   |
| no valid signature       | dead letter at once; the case stays as it is                         |
| BadMessage               | dead letter at once                                                  |
| result too large to send | dead letter at once                                                  |
| the worker ended         | tried by the next worker, `attempts` times in all, 3 at least; then dead letter |
| broker, ledger or embedding server unavailable | tried again, with backoff, until it is back: all messages need it |
| another model unavailable | tried `attempts` times; the last try may do without the model; then dead letter |
| any other error          | tried once more, then dead letter                                    |

A dead letter fails the case that its key names. On `flags`, which has no signatures, it does so only if the message is
a flag of that case.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from core.domain import FlaggedPost
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
from stream.messages import decode
from stream.signing import Signatures
from stream.stages import Outgoing, Stage

log = logging.getLogger(__name__)

TRIES_ON_A_FAULT = 2
OUTAGES = (BrokerUnavailable, LedgerUnavailable, EmbedderUnavailable)
"""Errors that are waited out for as long as they last: without these components no message can be processed."""


@dataclass(frozen=True)
class Incoming:
    """One message as received from the broker."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


Send = Callable[[Outgoing], Awaitable[None]]


class WriteDeadLetter(Protocol):
    """A function that writes dead letters; in production, `dead_letters.DeadLetterWriter.write`."""

    async def __call__(
        self, message: Incoming, stage: StageName, error: str, *, undelivered: bool = False, fails_case: bool = True
    ) -> None:
        """Write a dead letter and fail the case. Raises BrokerUnavailable or LedgerUnavailable."""


class Delivery:
    """Delivery of messages to one stage.

    - `signatures` verify each message before the stage sees it.
    - `in_hand` counts how often workers ended while processing a message; after too many, the stage no longer sees it.
    - `send` passes results on.
    - `write_dead_letter` receives messages that can't be processed, and the reason.

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
        """Process one message until it is done or has become a dead letter."""
        tries, outages = Retry(self._backoff, self._clock, self._settings.attempts), Retry(self._backoff, self._clock)
        while (error := await self._try(message, tries.is_last_attempt)) is not None:
            is_away = isinstance(error, OUTAGES)
            if not is_away and self._should_give_up(error, tries):
                await self._give_up(message, error)
                return
            # Waiting for an outage to end uses up none of the message's tries.
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

    def _fails_case(self, message: Incoming, error: Exception) -> bool:
        """Tell whether the case that the message's key names fails.

        A forged or unreadable message must not be able to end a case: whoever may write to `flags` chooses the key.
        """
        if isinstance(error, UnsignedMessage):
            return False
        return self._signatures.are_on(message.topic) or _is_flag_of_its_key(message)

    async def _give_up(self, message: Incoming, error: Exception) -> None:
        reason, exc_info = _reason(error)
        log.error("%s: %s goes to dead letters: %s", self._stage.name, message.key, reason, exc_info=exc_info)
        retry = Retry(self._backoff, self._clock)
        while True:
            try:
                await self._write_dead_letter(
                    message, self._stage.name, reason,
                    undelivered=isinstance(error, MessageTooLarge),
                    fails_case=self._fails_case(message, error),
                )  # fmt: skip
                break
            except (BrokerUnavailable, LedgerUnavailable) as away:
                log.warning("%s: dead letter for %s waits: %s", self._stage.name, message.key, away)
                await retry.wait()
            except Exception:
                # A dead letter that can't be written must not end the stage; the message itself stays on its topic.
                log.critical(
                    "%s: no dead letter could be written for %s %d:%d",
                    self._stage.name, message.topic, message.partition, message.offset, exc_info=True,
                )  # fmt: skip
                return
        metrics.DEAD_LETTERS.labels(self._stage.name).inc()


def _reason(error: Exception) -> tuple[str, Exception | None]:
    """Return the text for the dead letter, and the traceback to log; none if it would quote the post."""
    if isinstance(error, BadMessage | MessageTooLarge):
        return str(error), None
    if isinstance(error, ValidationError):
        return f"{error.title}: {describe_errors(error)}", None
    return (str(error) if isinstance(error, Unavailable) else f"{type(error).__name__}: {error}"), error


def _is_flag_of_its_key(message: Incoming) -> bool:
    """Tell whether a message is a flag that can be read, of the case that its key names."""
    try:
        return decode(message.value, FlaggedPost).key.encode() == message.key
    except BadMessage:
        return False
