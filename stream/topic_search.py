"""Find what the topics still contain about given cases or an author, for data subject requests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Collection
from typing import Any

from aiokafka import ConsumerRecord

from core.domain import FlaggedPost
from core.errors import BadMessage
from core.lifecycle import TopicRole
from core.settings import KafkaSettings
from stream.messages import decode
from stream.topic_reader import read_topic, sent_at
from stream.topics import Topics


async def records_about(
    settings: KafkaSettings, keys: Collection[str], is_about: Callable[[FlaggedPost], bool] = lambda _: False
) -> AsyncIterator[dict[str, Any]]:
    """Yield, as plain data, every message with one of the case keys and every flag that matches `is_about`.

    Reads all topics from their beginning. Raises BrokerUnavailable.
    """
    for role in TopicRole:
        topic = Topics(settings.prefix).named(role)
        async for record in read_topic(settings, topic):
            key = (record.key or b"").decode(errors="replace")
            post = _flag(record) if role is TopicRole.FLAGS else None
            if key in keys or (post is not None and (post.key in keys or is_about(post))):
                yield {
                    "topic": topic, "partition": record.partition, "offset": record.offset, "key": key,
                    "at": sent_at(record).isoformat(), "value": _value(record),
                }  # fmt: skip


def _flag(record: ConsumerRecord) -> FlaggedPost | None:
    try:
        return decode(record.value, FlaggedPost)
    except BadMessage:
        return None


def _value(record: ConsumerRecord) -> object:
    text = (record.value or b"").decode(errors="replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
