"""Dead letters: messages that could not be processed are written, listed and replayed."""

from __future__ import annotations

import base64
import hashlib
import logging
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass

from core.domain import now
from core.errors import BadMessage, CaseNotFound, MessageTooLarge, NotAllowed, UnsignedMessage
from core.lifecycle import REPLAY, STAGES, StageName
from core.settings import KafkaSettings
from ledger import Ledger
from stream.delivery import Incoming
from stream.messages import MAX_MESSAGE, DeadLetter, decode, encode, request_number
from stream.producer import Producer
from stream.signing import SIGNATURE, Signatures
from stream.topic_reader import read_topic
from stream.topics import Topics

log = logging.getLogger(__name__)

MAX_KEPT = 600_000
"""Largest message, in bytes, whose content a dead letter includes: as base64 it must fit Kafka's default limit of 1
MB."""
MAX_KEY = 1_000
"""Longest key, in bytes, that a dead letter includes; a case key has at most 865."""
MAX_ERROR = 2_000
"""Longest error text, in characters, that a dead letter includes."""
POINTER = {"value": None, "headers": ()}
"""What a dead letter leaves out to say only where its message is."""


class DeadLetterWriter:
    """The writer of dead letters; it also marks their cases as failed."""

    def __init__(self, producer: Producer, topics: Topics, ledger: Ledger) -> None:
        self._producer = producer
        self._topics = topics
        self._ledger = ledger

    async def write(
        self, message: Incoming, stage: StageName, error: str, *, undelivered: bool = False, fails_case: bool = True
    ) -> None:
        """Write a dead letter, then fail its case, in this order so that a crash in between loses nothing.

        With `fails_case` False the case stays as it is.
        """
        letter = letter_of(message, stage, error)
        try:
            await self._send(letter)
        except MessageTooLarge:
            # The broker's limit is lower than usual.
            await self._send(letter.model_copy(update=POINTER))
        if fails_case and letter.key is not None:
            number = request_number(message.value, stage)
            await self._ledger.stages.fail(letter.key, stage, error, undelivered=undelivered, number=number)

    async def _send(self, letter: DeadLetter) -> None:
        await self._producer.send(self._topics.dead_letters, letter.key, encode(letter))


def letter_of(message: Incoming, stage: StageName, error: str) -> DeadLetter:
    """Return the dead letter for a message; if that is too large, it only says where the message is.

    It keeps the headers if they fit without the message's bytes.
    """
    value = message.value or b""
    letter = DeadLetter(
        stage=stage,
        error=error[:MAX_ERROR],
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        key=text_key(message.key),
        value=_base64(value) if len(value) <= MAX_KEPT else None,
        headers=tuple((name, _base64(value)) for name, value in message.headers),
        at=now(),
    )
    for left_out in ({"value": None}, POINTER):
        if len(encode(letter)) > MAX_MESSAGE:
            letter = letter.model_copy(update=left_out)
    return letter


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def text_key(key: bytes | None) -> str | None:
    """Return a message's key as text, or None if it has no key or one that can't be a case key."""
    if not key or len(key) > MAX_KEY:
        return None
    try:
        return key.decode()
    except UnicodeDecodeError:
        return None


@dataclass(frozen=True)
class StoredDeadLetter:
    """A dead letter and its position on the dead-letter topic, `partition:offset`."""

    place: str
    letter: DeadLetter

    @property
    def id(self) -> str:
        """Return an id that stays unique even if the topic is recreated and another letter has the same position."""
        return hashlib.sha256(f"{self.place} ".encode() + encode(self.letter)).hexdigest()


async def read_dead_letters(settings: KafkaSettings) -> AsyncIterator[StoredDeadLetter]:
    """Yield the letters on the dead-letter topic from its beginning to its present end. Raises BrokerUnavailable."""
    topic = Topics(settings.prefix).dead_letters
    async for record in read_topic(settings, topic):
        place = f"{record.partition}:{record.offset}"
        try:
            yield StoredDeadLetter(place, decode(record.value, DeadLetter))
        except BadMessage as error:
            log.warning("skipped %s on %s: %s", place, topic, error)


async def replay(
    settings: KafkaSettings, ledger: Ledger, signatures: Signatures, places: Collection[str] = ()
) -> list[StoredDeadLetter]:
    """Send dead letters back to the topics they came from, all or those at `places`; return those that were sent.

    Skipped are letters that were replayed before, whose case is no longer failed or was removed, whose message was
    never signed, or that can't be sent; the log gives the reason. Replayed messages get a fresh signature. Letters that
    are written during the replay, because a stage gives up on the same message again, are left for the next replay.
    """
    resent, removed = [], 0
    chosen = {item.place async for item in read_dead_letters(settings) if not places or item.place in places}
    async with Producer(settings, signatures) as producer:
        async for item in read_dead_letters(settings):
            if item.place not in chosen:
                continue
            try:
                if await _resend(settings, ledger, signatures, producer, item):
                    await ledger.replayed_letters.note(item.id)
                    resent.append(item)
            except CaseNotFound as error:
                log.info("%s is not sent again: %s", item.place, error)
                removed += 1
            except (NotAllowed, MessageTooLarge, UnsignedMessage) as error:
                log.warning("%s can't be sent again: %s", item.place, error)
    if removed:
        log.warning("dead letters not sent again because retention has removed their cases: %d", removed)
    return resent


async def _resend(
    settings: KafkaSettings, ledger: Ledger, signatures: Signatures, producer: Producer, item: StoredDeadLetter
) -> bool:
    letter = item.letter
    if letter.topic != Topics(settings.prefix).named(STAGES[letter.stage].reads):
        log.warning("%s: %s does not read %s; it is not sent there", item.place, letter.stage, letter.topic)
        return False
    if await ledger.replayed_letters.has(item.id):
        log.info("%s was sent again before", item.place)
        return False
    original = await _original(settings, letter)
    if original is None:
        log.warning("%s: the message is no longer on %s; it can't be sent again", item.place, letter.topic)
        return False
    value, headers = original
    signatures.verify(letter.topic, letter.key.encode() if letter.key else None, value, headers)
    if not await _revive_case(ledger, letter):
        return False
    headers_to_send = {name: content.decode(errors="replace") for name, content in headers if name != SIGNATURE}
    await producer.send(letter.topic, letter.key, value, headers_to_send)
    return True


async def _original(settings: KafkaSettings, letter: DeadLetter) -> tuple[bytes, list[tuple[str, bytes]]] | None:
    """Return the value and the headers of a letter's message, from its topic if the letter only points there."""
    if letter.value is not None:
        return base64.b64decode(letter.value), [(name, base64.b64decode(packed)) for name, packed in letter.headers]
    async for record in read_topic(settings, letter.topic, {letter.partition: letter.offset}):
        if (record.partition, record.offset) == (letter.partition, letter.offset):
            return bytes(record.value or b""), [(name, content or b"") for name, content in record.headers]
    return None


async def _revive_case(ledger: Ledger, letter: DeadLetter) -> bool:
    """Tell whether a letter may be sent again; a failed case is then revived. Raises NotAllowed or CaseNotFound.

    A letter from before its case was pruned must not bring the post back.
    """
    if letter.key is None:
        return True
    try:
        case = await ledger.cases.get(letter.key)
    except CaseNotFound:
        pruned_at = await ledger.erasure.pruned_at(letter.key)
        if pruned_at is not None and letter.at <= pruned_at:
            raise
        return True
    if case.state not in REPLAY.takes:
        return False
    await ledger.stages.revive(letter.key, STAGES[letter.stage].takes)
    return True
