from __future__ import annotations

import pytest

from core.settings import Settings
from stream.messages import encode
from stream.producer import Producer
from stream.topic_search import records_about
from stream.topics import Topics
from tests.factories import make_post
from tests.stream import raw_batches

pytestmark = pytest.mark.live


async def test_what_topics_hold_of_a_case_or_an_author_is_found(
    producer: Producer, settings: Settings, topics: Topics
) -> None:
    hers, other = make_post(1, author_id="zorb-1"), make_post(2, author_id="zorb-2")
    await producer.send(topics.flags, "the platform's own key", encode(hers))
    await producer.send(topics.flags, other.key, encode(other))
    await producer.send(topics.flags, None, b"{broken")
    await producer.send(topics.dead_letters, "forum/3", b"not JSON")

    def is_hers(post: object) -> bool:
        return post == hers

    found = [record async for record in records_about(settings.kafka, ["forum/3"], is_hers)]
    assert [(record["topic"], record["value"]) for record in found] == [
        (topics.flags, hers.model_dump(mode="json", exclude_none=True)),
        (topics.dead_letters, "not JSON"),
    ]
    assert [record["key"] async for record in records_about(settings.kafka, [other.key])] == [other.key]


async def test_a_record_with_an_impossible_timestamp_is_found_too(settings: Settings, topics: Topics) -> None:
    """Clients that count in microseconds by mistake put their records into the far future."""
    flag = make_post()
    raw = raw_batches.batch([encode(flag)], timestamp_ms=1_790_000_000_000_000)
    await raw_batches.write(settings.kafka, topics.flags, raw)
    [record] = [record async for record in records_about(settings.kafka, [flag.key])]
    assert record["at"] == "1970-01-01T00:00:00+00:00"
