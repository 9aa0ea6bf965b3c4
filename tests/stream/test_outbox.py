"""The outbox: each approved text on `replies` once, whatever dies in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from unittest.mock import create_autospec

import pytest

from core.domain import (
    CaseState,
    DraftRequest,
    now,
)
from core.lifecycle import TopicRole
from core.settings import KafkaSettings, Settings
from ledger import Ledger
from stream import outbox
from stream.broker import EmbeddedBroker
from stream.outbox import OutboxPublisher
from stream.producer import Producer
from stream.topic_reader import read_topic
from stream.topics import Topics, ensure_topics
from tests.factories import make_draft, make_grounding, make_post, make_triage
from tests.ports import unused_port
from tests.stream.lost_answer import LostAnswer

pytestmark = pytest.mark.live

TEXT = "All people are equal in dignity. Nobody's group makes them less, whatever a post says\N{HORIZONTAL ELLIPSIS} ✓"
LEASE_S = 5.0


async def approved(ledger: Ledger, number: int = 1, release_in_s: float = -1.0) -> str:
    post = make_post(number, platform="birdsong")
    await ledger.stages.triage(post, make_triage())
    await ledger.stages.ground(post.key, make_grounding(), DraftRequest())
    await ledger.stages.draft(make_draft(post.key, text=TEXT, created_at=now()))
    version = (await ledger.cases.get(post.key)).version
    await ledger.decisions.approve(post.key, version, "ana", TEXT, "", now() + timedelta(seconds=release_in_s))
    return post.key


async def replies(settings: Settings, topics: Topics) -> list[tuple[str, str]]:
    return [
        (json.loads(record.value)["text"], dict(record.headers)["idempotency-key"].decode())
        async for record in read_topic(settings.kafka, topics.replies)
    ]


@pytest.fixture
def publisher(ledger: Ledger, producer: Producer, settings: Settings) -> OutboxPublisher:
    return OutboxPublisher(ledger, producer, settings)


async def until_released(ledger: Ledger, key: str, publisher: OutboxPublisher) -> None:
    while (await ledger.cases.get(key)).state is not CaseState.RELEASED:
        await publisher.publish_due()


async def exhaust(publish: Callable[[], Awaitable[int]]) -> None:
    while await publish():
        pass


async def test_an_approved_text_arrives_once_and_exactly_and_the_case_is_released(
    ledger: Ledger, publisher: OutboxPublisher, settings: Settings, topics: Topics
) -> None:
    key = await approved(ledger)
    await exhaust(publisher.publish_due)
    assert await replies(settings, topics) == [(TEXT, f"reply:{key}")]
    assert (await ledger.cases.get(key)).state is CaseState.RELEASED
    outcomes = [record.key async for record in read_topic(settings.kafka, topics.named(TopicRole.OUTCOMES))]
    assert outcomes == [key.encode()]


async def test_nothing_leaves_before_the_undo_window_is_over(
    ledger: Ledger, publisher: OutboxPublisher, settings: Settings, topics: Topics
) -> None:
    key = await approved(ledger, release_in_s=60)
    await exhaust(publisher.publish_due)
    assert await replies(settings, topics) == []
    assert (await ledger.cases.get(key)).state is CaseState.APPROVED


async def test_a_publisher_that_dies_after_the_send_leaves_no_second_reply(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    key = await approved(ledger)
    [row] = await ledger.outbox.lease("dying", LEASE_S, 10)
    assert await ledger.outbox.note_probe(row, "dying", {})
    await producer.send(topics.replies, row.key, row.value.encode(), row.headers)

    await until_released(ledger, key, OutboxPublisher(ledger, producer, settings))
    assert len(await replies(settings, topics)) == 1
    assert (await ledger.cases.get(key)).state is CaseState.RELEASED


async def test_a_publisher_that_dies_before_the_send_loses_nothing(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    key = await approved(ledger)
    [row] = await ledger.outbox.lease("dying", LEASE_S, 10)
    assert await ledger.outbox.note_probe(row, "dying", {})

    await until_released(ledger, key, OutboxPublisher(ledger, producer, settings))
    assert len(await replies(settings, topics)) == 1


async def test_a_reply_on_a_topic_made_anew_since_the_note_is_found(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    """A broker that keeps topics in memory has restarted since: the noted end is beyond what there is now."""
    key = await approved(ledger)
    [row] = await ledger.outbox.lease("dying", LEASE_S, 10)
    assert await ledger.outbox.note_probe(row, "dying", {str(number): 50 for number in range(4)})
    await producer.send(topics.replies, row.key, row.value.encode(), row.headers)

    await until_released(ledger, key, OutboxPublisher(ledger, producer, settings))
    assert len(await replies(settings, topics)) == 1


@pytest.mark.parametrize("held_up_in", ["note_probe", "_look_for"])
async def test_a_publisher_that_is_paused_and_wakes_up_sends_no_second_reply(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics, monkeypatch: pytest.MonkeyPatch,
    held_up_in: str,
) -> None:  # fmt: skip
    """It is stopped after its last look at the lease or the topic; another takes over, sends, and is done."""
    key = await approved(ledger)
    paused = OutboxPublisher(ledger, producer, settings)
    if held_up_in == "_look_for":
        [row] = await ledger.outbox.lease("dead", LEASE_S, 10)
        assert await ledger.outbox.note_probe(row, "dead", {})
        ledger.outbox._database.clock = lambda: now() + timedelta(seconds=LEASE_S)
    held_up = ledger.outbox if held_up_in == "note_probe" else paused
    step = getattr(held_up, held_up_in)

    async def step_and_pause(*arguments: object) -> object:
        result = await step(*arguments)
        monkeypatch.undo()
        ledger.outbox._database.clock = lambda: now() + timedelta(seconds=LEASE_S + settings.stream.lease_s)
        await until_released(ledger, key, OutboxPublisher(ledger, producer, settings))
        return result

    monkeypatch.setattr(held_up, held_up_in, step_and_pause)
    assert await paused.publish_due() == 1
    assert len(await replies(settings, topics)) == 1


async def test_without_a_broker_the_row_waits_and_leaves_when_it_is_back(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    key = await approved(ledger)
    away = settings.model_copy(
        update={"kafka": KafkaSettings(bootstrap=f"127.0.0.1:{unused_port()}", timeout_s=0.5, prefix=topics.prefix)}
    )
    async with Producer(away.kafka) as dead:
        assert await OutboxPublisher(ledger, dead, away).publish_due() == 1
    assert (await ledger.cases.get(key)).state is CaseState.APPROVED

    await until_released(ledger, key, OutboxPublisher(ledger, producer, settings))
    assert len(await replies(settings, topics)) == 1


async def test_who_takes_over_a_backlog_looks_at_the_topic_once_for_all_of_it(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [await approved(ledger, number) for number in range(12)]
    for row in await ledger.outbox.lease("dying", LEASE_S, 100):
        assert await ledger.outbox.note_probe(row, "dying", {})
        if row.case_key in keys[:5]:
            await producer.send(topics.replies, row.key, row.value.encode(), row.headers)
    ledger.outbox._database.clock = lambda: now() + timedelta(seconds=LEASE_S)
    looks = create_autospec(read_topic, side_effect=read_topic)
    monkeypatch.setattr(outbox, "read_topic", looks)
    assert await OutboxPublisher(ledger, producer, settings).publish_due() == len(keys)
    assert looks.call_count == 1
    assert sorted(name for _, name in await replies(settings, topics)) == sorted(f"reply:{key}" for key in keys)


async def test_many_publishers_at_once_send_each_reply_once(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    keys = [await approved(ledger, number) for number in range(40)]
    crowd = [OutboxPublisher(ledger, producer, settings) for _ in range(5)]
    await asyncio.gather(*(exhaust(publisher.publish_due) for publisher in crowd))
    assert sorted(name for _, name in await replies(settings, topics)) == sorted(f"reply:{key}" for key in keys)


@pytest.fixture
async def lost_answer(settings: Settings) -> AsyncIterator[tuple[Settings, LostAnswer]]:
    """Yield the settings of a broker of its own, whose answer to the first message will be lost."""
    front = unused_port()
    broker = EmbeddedBroker(port=unused_port(), behind=front)
    kafka = settings.kafka.model_copy(update={"bootstrap": broker.bootstrap})
    child, proxy = await broker.start(), LostAnswer(broker.port)
    async with proxy.listening(front):
        await ensure_topics(kafka)
        yield settings.model_copy(update={"kafka": kafka}), proxy
    await child.stop()


async def test_a_reply_whose_acknowledgement_is_lost_is_looked_for_and_not_sent_again(
    ledger: Ledger, topics: Topics, lost_answer: tuple[Settings, LostAnswer]
) -> None:
    settings, proxy = lost_answer
    key = await approved(ledger)
    async with Producer(settings.kafka) as producer:
        await until_released(ledger, key, OutboxPublisher(ledger, producer, settings))
    assert proxy.lost == 1
    assert await replies(settings, topics) == [(TEXT, f"reply:{key}")]


async def test_a_stages_message_whose_acknowledgement_is_lost_is_sent_again_at_once(
    topics: Topics, lost_answer: tuple[Settings, LostAnswer]
) -> None:
    settings, proxy = lost_answer
    async with Producer(settings.kafka) as producer:
        await producer.send(topics.flags, "k", b"v")
    assert proxy.lost == 1
    assert [record.value async for record in read_topic(settings.kafka, topics.flags)] == [b"v", b"v"]
