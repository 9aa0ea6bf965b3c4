"""The messages nobody could work on: written, listed, replayed."""

from __future__ import annotations

import base64
import logging
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass

from core.domain import now
from core.errors import BadMessage, CaseNotFound
from core.lifecycle import REPLAY, STAGES, StageName
from core.settings import KafkaSettings
from ledger import Ledger
from stream.delivery import Incoming
from stream.messages import DeadLetter, decode, encode
from stream.producer import Producer
from stream.topic_reader import read_topic
from stream.topics import Topics

log = logging.getLogger(__name__)

MAX_KEPT = 600_000
"""Most bytes of a message that its letter repeats: in base64 they must fit into Kafka's default limit of 1 MB."""


class DeadLetterWriter:
    """The way of messages to the dead-letter topic, and of their cases to failed."""

    def __init__(self, producer: Producer, topics: Topics, ledger: Ledger) -> None:
        self._producer = producer
        self._topics = topics
        self._ledger = ledger

    async def write(self, message: Incoming, stage: StageName, error: str) -> None:
        """Write one message; the letter comes before the case, so that a crash in between loses nothing."""
        key = text_key(message.key)
        letter = DeadLetter(
            stage=stage,
            error=error,
            topic=message.topic,
            partition=message.partition,
            offset=message.offset,
            key=key,
            value=base64.b64encode(message.value or b"").decode() if len(message.value or b"") <= MAX_KEPT else None,
            headers=tuple((name, base64.b64encode(value).decode()) for name, value in message.headers),
            at=now(),
        )
        await self._producer.send(self._topics.dead_letters, message.key, encode(letter))
        if key is not None:
            await self._ledger.stages.fail(key, stage, error)


def text_key(key: bytes | None) -> str | None:
    """Return a message's key as text, or None when it has none or it is not UTF-8."""
    try:
        return key.decode() if key else None
    except UnicodeDecodeError:
        return None


@dataclass(frozen=True)
class StoredDeadLetter:
    """A dead letter with its own place on the dead-letter topic, `partition:offset`."""

    place: str
    letter: DeadLetter


async def read_dead_letters(settings: KafkaSettings) -> AsyncIterator[StoredDeadLetter]:
    """Read the dead-letter topic from its beginning to its present end; raises BrokerUnavailable."""
    topic = Topics(settings.prefix).dead_letters
    async for record in read_topic(settings, topic):
        place = f"{record.partition}:{record.offset}"
        try:
            yield StoredDeadLetter(place, decode(record.value, DeadLetter))
        except BadMessage as error:
            log.warning("skipped %s on %s: %s", place, topic, error)


async def replay(settings: KafkaSettings, ledger: Ledger, places: Collection[str] = ()) -> list[StoredDeadLetter]:
    """Send dead letters to the topic they came from, all or those at `places`; return those that were sent.

    A letter whose case has moved on since, by an earlier replay or by the sweeper, is left alone.
    """
    sent = []
    async with Producer(settings) as producer:
        async for item in read_dead_letters(settings):
            if places and item.place not in places:
                continue
            if not await _revived(ledger, item.letter):
                continue
            value = await _original(settings, item.letter)
            if value is None:
                log.warning("%s: the message is no longer on %s; it can't be sent again", item.place, item.letter.topic)
                continue
            headers = {name: base64.b64decode(value).decode(errors="replace") for name, value in item.letter.headers}
            await producer.send(item.letter.topic, item.letter.key, value, headers)
            sent.append(item)
    return sent


async def _original(settings: KafkaSettings, letter: DeadLetter) -> bytes | None:
    if letter.value is not None:
        return base64.b64decode(letter.value)
    async for record in read_topic(settings, letter.topic, {letter.partition: letter.offset}):
        if (record.partition, record.offset) == (letter.partition, letter.offset):
            return bytes(record.value or b"")
    return None


async def _revived(ledger: Ledger, letter: DeadLetter) -> bool:
    if letter.key is None:
        return True
    try:
        case = await ledger.cases.get(letter.key)
    except CaseNotFound:
        return True
    if case.state not in REPLAY.takes:
        return False
    await ledger.stages.revive(letter.key, STAGES[letter.stage].takes)
    return True
