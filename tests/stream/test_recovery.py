"""Intake, sweeper and dead letters on a real broker: what was lost or given up comes back."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from prometheus_client import REGISTRY

from core.domain import CaseState, DraftRequest, FlaggedPost, now
from core.errors import BrokerUnavailable, MessageTooLarge, NotAllowed
from core.lifecycle import UNFINISHED, StageName, TopicRole
from core.settings import Settings
from ledger import Ledger
from stream import dead_letters
from stream.dead_letters import DeadLetterWriter, read_dead_letters, replay
from stream.delivery import Incoming
from stream.failed_cases import failed_cases, revive
from stream.intake import Intake
from stream.messages import Grounded, Triaged, decode, encode
from stream.producer import Producer
from stream.signing import Signatures
from stream.sweeper import Sweeper
from stream.topic_reader import backlog, end_offsets, read_topic
from stream.topics import Topics, worker_group
from tests.factories import make_grounding, make_post, make_triage
from tests.stream import raw_batches

pytestmark = pytest.mark.live


def post(number: int = 1) -> FlaggedPost:
    return make_post(number, platform="birdsong")


async def test_intake_writes_flags_into_the_ledger_and_leaves_bad_ones_to_triage(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    await producer.send_all(topics.flags, [(None, b"{broken"), *((post(n).key, encode(post(n))) for n in range(30))])
    intake = asyncio.create_task(Intake(ledger, settings).run())
    async with asyncio.timeout(120):
        while (await ledger.cases.counts()).get(CaseState.RECEIVED, 0) < 30:
            await asyncio.sleep(0.05)
    intake.cancel()
    await asyncio.gather(intake, return_exceptions=True)


async def test_draining_saves_what_is_still_on_the_topic(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    await producer.send_all(topics.flags, [(post(n).key, encode(post(n))) for n in range(700)])
    await Intake(ledger, settings).drain()
    assert (await ledger.cases.counts())[CaseState.RECEIVED] == 700


async def test_the_sweeper_sends_each_stuck_case_to_the_stage_that_owes_the_next_step(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    await ledger.stages.receive([post(1)])
    await ledger.stages.triage(post(2), make_triage())
    await ledger.stages.triage(post(3), make_triage())
    await ledger.stages.ground(post(3).key, make_grounding(), DraftRequest(hint="short"))
    sweeper = Sweeper(ledger, producer, settings)

    assert await sweeper.sweep(now() - timedelta(hours=1)) == 0, "fresh cases are left alone"
    assert await sweeper.sweep(now()) == 3
    [flag] = [decode(record.value, FlaggedPost) async for record in read_topic(settings.kafka, topics.flags)]
    [triaged] = [
        decode(record.value, Triaged) async for record in read_topic(settings.kafka, topics.named(TopicRole.TRIAGED))
    ]
    [grounded] = [
        decode(record.value, Grounded) async for record in read_topic(settings.kafka, topics.named(TopicRole.GROUNDED))
    ]
    assert (flag.post_id, triaged.post.post_id, grounded.post.post_id) == ("1", "2", "3")
    assert grounded.request.hint == "short"


async def test_the_sweeper_leaves_cases_alone_whose_messages_workers_have_not_got_to(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    """A second message would put workers further behind: of 20,000 flags 45,000 were once sent again."""
    await producer.send_all(topics.flags, [(post(n).key, encode(post(n))) for n in (1, 2)])
    await ledger.stages.receive([post(1), post(2)])
    await ledger.stages.triage(post(3), make_triage())
    sweeper = Sweeper(ledger, producer, settings)

    assert await sweeper.sweep(now()) == 1, "the third one's topic is read to its end"
    assert len([None async for _ in read_topic(settings.kafka, topics.flags)]) == 2

    assert await sweeper.sweep(now() - timedelta(hours=1)) == 0
    assert seconds_behind(topics.flags) > 0, "they stand still, whether their cases are looked at or not"

    await read_by_workers(settings, topics.flags)
    assert await sweeper.sweep(now()) == 2, "their messages were read, and nothing came of it"


@pytest.mark.parametrize("timestamp", [1_790_000_000_000_000, 1_790_000_000_000_000_000, -1_790_000_000_000_000_000])
async def test_an_unread_message_with_an_impossible_timestamp_has_waited_for_long(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics, timestamp: int
) -> None:
    raw = raw_batches.batch([encode(post())], timestamp_ms=timestamp)
    await raw_batches.write(settings.kafka, topics.flags, raw)
    await ledger.stages.receive([post()])
    assert await Sweeper(ledger, producer, settings).sweep(now()) == 0, "its message is still on the topic"


def seconds_behind(topic: str) -> float:
    return REGISTRY.get_sample_value("rejoinder_behind_seconds", {"topic": topic}) or 0.0


async def test_the_sweeper_does_not_wait_for_a_broker_that_never_says_how_far_workers_are(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(AIOKafkaConsumer, "committed", never)
    await ledger.stages.receive([post(1)])
    hurried = settings.model_copy(update={"kafka": settings.kafka.model_copy(update={"timeout_s": 0.5})})
    with pytest.raises(BrokerUnavailable):
        await Sweeper(ledger, producer, hurried).sweep(now())


async def read_by_workers(settings: Settings, topic: str) -> None:
    """Commit all that is on a topic as workers do who have read it."""
    ends = await end_offsets(settings.kafka, topic)
    consumer = AIOKafkaConsumer(bootstrap_servers=settings.kafka.bootstrap, group_id=worker_group(settings.kafka))
    await consumer.start()
    try:
        consumer.assign([TopicPartition(topic, number) for number in ends])
        await consumer.commit({TopicPartition(topic, number): end for number, end in ends.items()})
    finally:
        await consumer.stop()


async def test_a_message_given_up_keeps_its_bytes_and_its_case_is_failed_until_replayed(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    await ledger.stages.receive([post()])
    message = Incoming(topics.flags, 0, 5, post().key.encode(), encode(post()), (("trace", b"t-1"),))
    await DeadLetterWriter(producer, topics, ledger).write(message, StageName.TRIAGE, "the model was away")
    case = await ledger.cases.get(post().key)
    assert case.state is CaseState.FAILED and case.error and "the model was away" in case.error
    [item] = [letter async for letter in read_dead_letters(settings.kafka)]
    assert (item.letter.stage, item.letter.offset, item.letter.key) == (StageName.TRIAGE, 5, post().key)

    assert await replay(settings.kafka, ledger, Signatures.of(settings), ["9:99"]) == []
    assert [sent.place for sent in await replay(settings.kafka, ledger, Signatures.of(settings))] == [item.place]
    assert (await ledger.cases.get(post().key)).state is CaseState.RECEIVED
    [record] = [record async for record in read_topic(settings.kafka, topics.flags)]
    assert record.value == message.value and record.headers == (("trace", b"t-1"),)
    assert await replay(settings.kafka, ledger, Signatures.of(settings)) == [], "a second replay leaves the case alone"


async def test_a_letter_without_a_readable_case_is_kept_too(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    await DeadLetterWriter(producer, topics, ledger).write(
        Incoming(topics.flags, 0, 1, b"\xff", b"{"), StageName.TRIAGE, "not JSON"
    )
    await producer.send(topics.dead_letters, None, json.dumps({"not": "a letter"}).encode())
    [item] = [letter async for letter in read_dead_letters(settings.kafka)]
    assert item.letter.key is None and item.letter.error == "not JSON"


async def test_a_message_too_large_for_a_letter_is_named_and_replayed_from_where_it_lies(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    huge = b'{"text":"' + b"x" * 900_000 + b'"}'
    await producer.send(topics.flags, None, huge)
    [record] = [record async for record in read_topic(settings.kafka, topics.flags)]
    message = Incoming(topics.flags, record.partition, record.offset, None, huge)
    await DeadLetterWriter(producer, topics, ledger).write(message, StageName.TRIAGE, "too long")
    [item] = [letter async for letter in read_dead_letters(settings.kafka)]
    assert item.letter.value is None
    assert len(await replay(settings.kafka, ledger, Signatures.of(settings))) == 1
    assert [record.value async for record in read_topic(settings.kafka, topics.flags)] == [huge, huge]


async def test_replay_sends_no_letter_twice_and_none_that_is_written_meanwhile(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = DeadLetterWriter(producer, topics, ledger)
    sent_again = dead_letters._resend

    async def given_up_at_once(*arguments: Any) -> bool:
        sent = await sent_again(*arguments)
        await writer.write(Incoming(topics.flags, 0, 9, None, b"{}"), StageName.TRIAGE, "no FlaggedPost, again")
        return sent

    for offset in range(3):
        await writer.write(Incoming(topics.flags, 0, offset, None, b"{}"), StageName.TRIAGE, "no FlaggedPost")
    with monkeypatch.context() as patch:
        patch.setattr(dead_letters, "_resend", given_up_at_once)
        assert len(await replay(settings.kafka, ledger, Signatures.of(settings))) == 3
    assert len(await replay(settings.kafka, ledger, Signatures.of(settings))) == 3, "those that came back, once more"
    assert await replay(settings.kafka, ledger, Signatures.of(settings)) == []
    assert len([record async for record in read_topic(settings.kafka, topics.flags)]) == 6


async def test_a_failed_case_is_sent_on_from_the_ledger_to_where_it_failed(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    for number, stage in enumerate((StageName.TRIAGE, StageName.GROUND, StageName.DRAFT)):
        await ledger.stages.receive([post(number)])
        if stage is not StageName.TRIAGE:
            await ledger.stages.triage(post(number), make_triage())
        if stage is StageName.DRAFT:
            await ledger.stages.ground(post(number).key, make_grounding(), DraftRequest())
        await ledger.stages.fail(post(number).key, stage, "signed with a key of before")
    keys = [key async for key in failed_cases(ledger)]
    assert [await revive(ledger, producer, topics, key) for key in keys] == list(UNFINISHED)
    for role in (TopicRole.FLAGS, TopicRole.TRIAGED, TopicRole.GROUNDED):
        [record] = [record async for record in read_topic(settings.kafka, topics.named(role))]
        if role is not TopicRole.FLAGS:
            Signatures.of(settings).verify(record.topic, record.key, record.value, record.headers)
    assert [key async for key in failed_cases(ledger)] == []
    with pytest.raises(NotAllowed, match="nothing to revive"):
        await revive(ledger, producer, topics, keys[0])


async def test_a_failed_case_whose_message_is_too_large_stays_failed(
    ledger: Ledger, producer: Producer, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ledger.stages.receive([post()])
    await ledger.stages.fail(post().key, StageName.TRIAGE, "too large")
    monkeypatch.setattr("stream.failed_cases.MAX_MESSAGE", 10)
    with pytest.raises(MessageTooLarge, match="10 is the most"):
        await revive(ledger, producer, topics, post().key)
    assert [key async for key in failed_cases(ledger)] == [post().key]


async def test_the_backlog_of_a_group_is_what_it_has_not_committed(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    group = f"{topics.prefix}intake"
    await producer.send(topics.flags, post().key, encode(post()))
    assert sum((await backlog(settings.kafka, group, [topics.flags])).values()) == 1
    intake = asyncio.create_task(Intake(ledger, settings).run())
    async with asyncio.timeout(120):
        while sum((await backlog(settings.kafka, group, [topics.flags])).values()):
            await asyncio.sleep(0.1)
    intake.cancel()
    await asyncio.gather(intake, return_exceptions=True)


async def test_offsets_without_a_message_are_no_backlog(settings: Settings, topics: Topics) -> None:
    """A worker that waits for what never comes would be restarted again and again."""
    marker = raw_batches.with_attributes(raw_batches.batch([b"commit"]), raw_batches.CONTROL)
    await raw_batches.write(settings.kafka, topics.flags, marker)
    unreadable = raw_batches.with_attributes(raw_batches.batch([b"lost"]), raw_batches.GZIP)
    await raw_batches.write(settings.kafka, topics.flags, unreadable, partition=1)
    assert await end_offsets(settings.kafka, topics.flags) == {0: 1, 1: 1, 2: 0, 3: 0}
    assert not any((await backlog(settings.kafka, worker_group(settings.kafka), [topics.flags])).values())


@pytest.mark.parametrize("committed", [None, 60])
async def test_expired_messages_are_no_backlog(
    settings: Settings, topics: Topics, monkeypatch: pytest.MonkeyPatch, committed: int | None
) -> None:
    """The topic's messages have expired, and either the group's offsets have too or it stopped before their end."""

    async def hundred(consumer: AIOKafkaConsumer, places: list[TopicPartition]) -> dict[TopicPartition, int]:
        return dict.fromkeys(places, 100)

    async def offset(*_: object) -> int | None:
        return committed

    monkeypatch.setattr(AIOKafkaConsumer, "beginning_offsets", hundred)
    monkeypatch.setattr(AIOKafkaConsumer, "end_offsets", hundred)
    monkeypatch.setattr(AIOKafkaConsumer, "committed", offset)
    assert not any((await backlog(settings.kafka, worker_group(settings.kafka), [topics.flags])).values())
