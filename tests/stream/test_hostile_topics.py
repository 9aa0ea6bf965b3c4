"""What a hostile writer puts on a topic, or an older version left there, stops nobody who reads it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import MessageSizeTooLargeError
from sqlalchemy import text

from core.domain import CaseState, DraftRequest, FlaggedPost, Route, Triage, now
from core.errors import LedgerUnavailable, MessageTooLarge
from core.lifecycle import STAGES, StageName, TopicRole
from core.settings import Settings
from ledger import Ledger
from stream.app import make_sender, to_incoming
from stream.dead_letters import DeadLetterWriter, read_dead_letters, replay
from stream.delivery import Incoming
from stream.ingest import connect
from stream.intake import Intake
from stream.messages import MAX_MESSAGE, DeadLetter, decode, encode
from stream.outbox import OutboxPublisher
from stream.producer import Producer
from stream.signing import Signatures
from stream.stages import DeskStage, DraftStage, GroundStage, Outgoing, Stage, TriageStage
from stream.sweeper import Sweeper
from stream.topic_reader import read_topic
from stream.topics import Topics
from stream.worker import run_worker
from tests.factories import make_draft, make_grounding, make_post, make_triage
from tests.stream import raw_batches

pytestmark = pytest.mark.live

NO_UTC = b'{"platform":"birdsong","post_id":"x","text":"vile words","flagged_at":"0001-01-01T00:00:00+14:00"}'


def post(number: int = 1, context: tuple[str, ...] = ()) -> FlaggedPost:
    """Make a flag, with a context of any size."""
    return make_post(number, platform="birdsong").model_copy(update={"context": context})


def large(number: int = 1) -> FlaggedPost:
    """Return a flag with 540 kB of context, which version 0.1.0 accepted."""
    return post(number, ("y" * 18_000,) * 30)


def hostile_records() -> list[bytes | None]:
    """Return sixteen values that are no record of any topic."""
    deep = b"[" * 5_000 + b"]" * 5_000
    return [
        None, b"", b"{", b"\xff\xfe", b"null", b"[]", b'"x"', deep, b"9" * 5_000, b"NaN", b"1e999", NO_UTC,
        b'{"platform":"\\ud800","post_id":"1","text":"x"}', b'{"case_key":"a\\u0000b","number":1e400}',
        b'{"stage":"triage","at":"0001-01-01T00:00:00+14:00"}', encode(large()),
    ]  # fmt: skip


@asynccontextmanager
async def running(job: Callable[[], Awaitable[None]]) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.ensure_future(job())
    yield task
    assert not task.done(), "it died"
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def until(holds: Callable[[], Awaitable[bool]], within_s: float = 60) -> None:
    async with asyncio.timeout(within_s):
        while not await holds():
            await asyncio.sleep(0.05)


async def letters(settings: Settings) -> list[DeadLetter]:
    return [item.letter async for item in read_dead_letters(settings.kafka)]


class Dismisser:
    async def triage(self, post: FlaggedPost, *, duplicate_of: str | None = None) -> Triage:
        return make_triage(route=Route.DISMISS)


async def test_sixty_four_malformed_records_on_four_topics_are_dead_letters_and_the_worker_goes_on(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    unused: Any = None
    stages: list[Stage] = [
        TriageStage(ledger, Dismisser()),
        GroundStage(ledger, unused, unused),
        DraftStage(ledger, unused),
        DeskStage(ledger),
    ]
    for plan in STAGES.values():
        values = hostile_records()
        assert len(values) == 16
        await producer.send_all(topics.named(plan.reads), [(f"bad/{n}", value) for n, value in enumerate(values)])
    await producer.send_all(topics.flags, [(post(n).key, encode(post(n))) for n in range(3)])
    stop = asyncio.Event()

    async def work() -> None:
        await run_worker(settings, stages, DeadLetterWriter(producer, topics, ledger), stop)

    async def done() -> bool:
        return (await ledger.cases.counts())[CaseState.DISMISSED] == 3 and len(await letters(settings)) == 64

    worker = asyncio.ensure_future(work())
    await until(done, within_s=120)
    stop.set()
    await worker
    kept = await letters(settings)
    assert {letter.stage for letter in kept} == set(StageName)
    assert not [letter.error for letter in kept if "vile" in letter.error or "Error" in letter.error]


async def test_intake_goes_on_after_records_that_are_no_flag(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    values = [*hostile_records(), *(encode(post(n)) for n in range(10))]
    await producer.send_all(topics.flags, [(None, value) for value in values if value is not None])

    async def all_received() -> bool:
        return (await ledger.cases.counts())[CaseState.RECEIVED] == 10

    async with running(Intake(ledger, settings).run):
        await until(all_received)
    await Intake(ledger, settings).drain()


async def test_a_post_that_the_ledger_refuses_is_left_out_and_the_batch_is_stored(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    receive = ledger.stages.receive

    async def picky(batch: Sequence[FlaggedPost]) -> int:
        if any(item.post_id in ("7", "8") for item in batch):
            raise OverflowError("vile words")
        return await receive(batch)

    monkeypatch.setattr(ledger.stages, "receive", picky)
    await producer.send_all(topics.flags, [(post(n).key, encode(post(n))) for n in range(20)])

    async def all_others_received() -> bool:
        return (await ledger.cases.counts())[CaseState.RECEIVED] == 18

    async with running(Intake(ledger, settings).run):
        await until(all_others_received)
    refused = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert sorted(refused) == [f"intake: the ledger refuses birdsong/{n} (OverflowError)" for n in (7, 8)]


async def test_an_outage_is_not_taken_for_a_refusal(ledger: Ledger, settings: Settings) -> None:
    tries = []

    async def away(batch: Sequence[FlaggedPost]) -> int:
        tries.append(len(batch))
        raise LedgerUnavailable("away")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger.stages, "receive", away)
        with pytest.raises(LedgerUnavailable):
            await Intake(ledger, settings)._receive([post(1), post(2)])
    assert tries == [2], "the batch comes again whole"


async def test_a_null_header_reaches_the_stage() -> None:
    """Kafka lets a header have no value."""
    message = SimpleNamespace(topic="t", partition=0, offset=1, key=None, value=b"{", headers=[("trace", None)])
    assert to_incoming(SimpleNamespace(message=message)).headers == (("trace", b""),)


async def grounded(ledger: Ledger, item: FlaggedPost, request: DraftRequest) -> None:
    await ledger.stages.triage(item, make_triage())
    await ledger.stages.ground(item.key, make_grounding(), request)


async def test_one_oversize_case_of_an_older_version_fails_and_the_sweep_goes_on(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    """Version 0.1.0 repeated the context in the request: 540 kB of it made a message of 1.08 MB."""
    await ledger.stages.receive([post(1)])
    await grounded(ledger, large(2), DraftRequest(avoid=large().context))
    await grounded(ledger, post(3), DraftRequest(avoid=("An earlier reply.",)))

    assert await Sweeper(ledger, producer, settings).sweep(now()) == 3
    case = await ledger.cases.get("birdsong/2")
    assert case.state is CaseState.FAILED and case.error is not None and "1,000,000" in case.error
    assert [row.to_state for row in await ledger.history.of(case.key)][-1] is CaseState.FAILED
    [owed] = await ledger.outbox.lease("publisher", 30, 10)
    assert owed.topic is TopicRole.OUTCOMES and json.loads(owed.value)["state"] == "failed"
    assert [item.key for item in (await ledger.cases.page(states=[CaseState.FAILED])).cases] == [case.key]
    assert len([None async for _ in read_topic(settings.kafka, topics.flags)]) == 1
    assert len([None async for _ in read_topic(settings.kafka, topics.named(TopicRole.GROUNDED))]) == 1
    assert await Sweeper(ledger, producer, settings).sweep(case.updated_at) == 0, "it is not looked at again"


async def test_a_flag_of_an_older_version_that_triage_no_longer_reads_fails_with_the_sweep(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    await ledger.stages.receive([large(1), post(2)])
    assert await Sweeper(ledger, producer, settings).sweep(now()) == 2
    case = await ledger.cases.get("birdsong/1")
    assert case.state is CaseState.FAILED and case.error is not None and "300,000 bytes" in case.error
    assert case.post == large(1), "what was flagged stays readable"
    assert [record.key async for record in read_topic(settings.kafka, topics.flags)] == [b"birdsong/2"]


async def test_a_result_too_large_fails_the_case_where_the_stage_has_moved_it(
    ledger: Ledger, producer: Producer, topics: Topics, settings: Settings
) -> None:
    await grounded(ledger, post(1), DraftRequest())
    writer = DeadLetterWriter(producer, topics, ledger)
    message = Incoming(topics.named(TopicRole.TRIAGED), 0, 5, b"birdsong/1", b"{}")
    await writer.write(message, StageName.GROUND, "a late one")
    assert (await ledger.cases.get("birdsong/1")).state is CaseState.GROUNDED
    await writer.write(message, StageName.GROUND, "1,100,000 bytes", undelivered=True)
    assert (await ledger.cases.get("birdsong/1")).state is CaseState.FAILED


@pytest.mark.parametrize("refused_by", ["size", "client"])
async def test_a_stages_result_that_faust_cannot_send_is_too_large(settings: Settings, refused_by: str) -> None:
    class Channel:
        async def send(self, **message: object) -> None:
            raise MessageSizeTooLargeError

    app: Any = SimpleNamespace(topic=lambda *_, **__: Channel())
    size = MAX_MESSAGE if refused_by == "size" else 10
    record = post(1, ("🤡" * (size // 200 + 1),) * 50)
    with pytest.raises(MessageTooLarge, match="bytes"):
        await make_sender(app, Topics("t."), TopicRole.GROUNDED, Signatures.of(settings))(
            Outgoing("birdsong/1", record)
        )


async def test_what_is_too_large_is_named_and_everything_else_is_sent(
    producer: Producer, settings: Settings, topics: Topics
) -> None:
    values = [b"a", b"x" * (MAX_MESSAGE + 1), b"b", b"x" * 2_000_000, b"x" * MAX_MESSAGE]
    with pytest.raises(MessageTooLarge, match="1,000,001, 2,000,000") as refused:
        await producer.send_all(topics.flags, [("k", value) for value in values])
    assert refused.value.places == (1, 3)
    sent = [len(record.value) async for record in read_topic(settings.kafka, topics.flags)]
    assert sent == [1, 1, MAX_MESSAGE]


async def test_rows_too_large_for_the_broker_hold_up_no_other(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    for number in (1, 2, 3):
        item = post(number)
        await ledger.stages.triage(item, make_triage(route=Route.DISMISS if number == 2 else Route.DRAFT))
        if number != 2:
            await ledger.stages.ground(item.key, make_grounding(), DraftRequest())
            await ledger.stages.fail(item.key, StageName.DRAFT, "the model was away")
            version = (await ledger.cases.get(item.key)).version
            message = "x" * (1_100_000 if number == 1 else 10)
            await ledger.decisions.redraft(item.key, version, "ana", DraftRequest(number=2), message)
    async with ledger._database.write() as connection:
        await connection.execute(
            text("UPDATE outbox SET value = :value WHERE topic = 'outcomes' AND case_key = 'birdsong/2'"),
            {"value": "x" * 1_100_000},
        )

    publisher = OutboxPublisher(ledger, producer, settings)
    while await publisher.publish_due():
        pass
    sent = [record.key async for record in read_topic(settings.kafka, topics.named(TopicRole.GROUNDED))]
    assert sent == [b"birdsong/3"]
    failed = await ledger.cases.get("birdsong/1")
    assert failed.state is CaseState.FAILED and failed.error is not None and "1,100,000" in failed.error
    outcomes = [record.key async for record in read_topic(settings.kafka, topics.named(TopicRole.OUTCOMES))]
    assert outcomes == [b"birdsong/1"], "its second failure; the first was withdrawn by the redraft"
    async with ledger._database.read() as connection:
        rows = (
            await connection.execute(text("SELECT status, last_error FROM outbox WHERE length(value) > 1000000"))
        ).all()
    assert sorted(row.status for row in rows) == ["cancelled", "waiting"], "an outcome stays owed"
    assert all("1,100,000" in row.last_error for row in rows)


async def test_noise_on_replies_keeps_no_reply_back(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    item = post(1)
    await grounded(ledger, item, DraftRequest())
    await ledger.stages.draft(make_draft(item.key, text="One. Two."))
    version = (await ledger.cases.get(item.key)).version
    await ledger.decisions.approve(item.key, version, "ana", "One. Two.", "", now())
    [row] = await ledger.outbox.lease("dying", 5.0, 10)
    assert await ledger.outbox.note_probe(row, "dying", {})
    await producer.send_all(topics.replies, [(None, value) for value in hostile_records() if value is not None])

    publisher = OutboxPublisher(ledger, producer, settings)

    async def released() -> bool:
        await publisher.publish_due()
        return (await ledger.cases.get(item.key)).state is CaseState.RELEASED

    await until(released)
    values = [record.value async for record in read_topic(settings.kafka, topics.replies)]
    assert len([value for value in values if b"One. Two." in value]) == 1


async def test_replay_passes_over_what_cannot_be_sent_again(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    await ledger.stages.receive([post(1), post(2)])
    await ledger.stages.fail(post(1).key, StageName.TRIAGE, "it broke")
    writer = DeadLetterWriter(producer, topics, ledger)
    await writer.write(Incoming("no topic at all!", 0, 1, b"birdsong/3", b"{}"), StageName.TRIAGE, "[/red]")
    await writer.write(Incoming(topics.replies, 0, 1, b"birdsong/3", b"{}"), StageName.DRAFT, "forged")
    draft_topic = topics.named(TopicRole.GROUNDED)
    await writer.write(Incoming(draft_topic, 0, 1, post(1).key.encode(), b"{}"), StageName.DRAFT, "too early")
    for value in hostile_records():
        await producer.send(topics.dead_letters, None, value or b"\0")
    await writer.write(
        Incoming(topics.flags, 0, 1, post(2).key.encode(), encode(post(2))), StageName.TRIAGE, "the model was away"
    )
    [sent] = await replay(settings.kafka, ledger, Signatures.of(settings))
    assert sent.letter.key == post(2).key
    assert [None async for _ in read_topic(settings.kafka, topics.replies)] == []


async def test_a_letter_leaves_out_what_would_make_it_too_large(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    writer = DeadLetterWriter(producer, topics, ledger)
    headers = (("noise", b"x" * 500_000),)
    await writer.write(
        Incoming(topics.flags, 0, 1, b"k" * 900_000, b"x" * 500_000, headers), StageName.TRIAGE, "e" * 9_000
    )
    [letter] = await letters(settings)
    assert (letter.key, letter.value, letter.offset) == (None, None, 1)
    assert len(letter.error) == 2_000 and letter.headers
    assert decode(encode(letter), DeadLetter) == letter


class NotUtf8(str):
    """A header's name that kafka-python sends as bytes which are no UTF-8."""

    def encode(self, encoding: str = "", errors: str = "") -> bytes:
        return b"\xff\xfe"


async def test_what_the_client_cannot_unpack_or_decode_stops_nobody(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    """aiokafka fails at it before anybody sees the record, and again at every start."""

    def produce() -> None:
        client = connect(settings.kafka)
        client.send(topics.flags, key=b"a", value=b"{}", headers=[(NotUtf8("x"), b"1")], partition=0).get(10)
        client.close()

    await asyncio.to_thread(produce)
    for compression in (raw_batches.GZIP, raw_batches.LZ4):
        broken = raw_batches.with_attributes(raw_batches.batch([encode(post(9))]), compression)
        await raw_batches.write(settings.kafka, topics.flags, broken)
    await producer.send_all(topics.flags, [(post(n).key, encode(post(n))) for n in range(8)])
    assert len([None async for _ in read_topic(settings.kafka, topics.flags)]) == 8
    await Intake(ledger, settings).drain()
    assert (await ledger.cases.counts())[CaseState.RECEIVED] == 8
    stop = asyncio.Event()
    stages = [TriageStage(ledger, Dismisser())]
    worker = asyncio.ensure_future(run_worker(settings, stages, DeadLetterWriter(producer, topics, ledger), stop))

    async def all_dismissed() -> bool:
        return (await ledger.cases.counts())[CaseState.DISMISSED] == 8

    async with running(Intake(ledger, settings).run):
        await until(all_dismissed)
    stop.set()
    await worker
