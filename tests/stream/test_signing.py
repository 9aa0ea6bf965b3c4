"""A record between stages is believed only when one of them has signed it, for its topic and its case."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import SecretStr

from core.domain import CaseState, DraftRequest, FlaggedPost, Grounding, StrategyName, Triage, now
from core.errors import BadSettings, UnsignedMessage
from core.lifecycle import STAGES, StageName, TopicRole
from core.secrets import record_keys
from core.settings import KafkaSettings, Settings, StreamSettings
from ledger import Ledger
from stream.dead_letters import DeadLetterWriter, read_dead_letters, replay
from stream.delivery import Delivery, Incoming
from stream.in_hand import InHand
from stream.liveness import Liveness
from stream.messages import Grounded, Triaged, encode
from stream.producer import Producer
from stream.signing import SIGNATURE, SIGNED, Signatures
from stream.stages import DeskStage, GroundStage, Outgoing, Stage
from stream.sweeper import Sweeper
from stream.topic_reader import read_topic
from stream.topics import Topics
from stream.worker import run_worker
from tests.factories import make_draft, make_grounding, make_post, make_triage

TOPICS = Topics("t.")
DRAFTS = TOPICS.named(TopicRole.DRAFTS)
OLD, NEW = b"an old key, by chance", b"a new key, by chance"
RECORD = (b"birdsong/1", b'{"text":"One. Two."}')


def test_all_that_stages_read_is_signed_but_what_platforms_write() -> None:
    assert {plan.reads for plan in STAGES.values()} - SIGNED == {TopicRole.FLAGS}
    signatures = Signatures([OLD], TOPICS)
    for role in set(TopicRole) - SIGNED:
        assert signatures.headers(TOPICS.named(role), *RECORD) == []
        signatures.verify(TOPICS.named(role), *RECORD, ())


def test_a_signature_holds_for_one_topic_one_key_and_one_value() -> None:
    signatures = Signatures([OLD], TOPICS)
    headers = [("trace", b"1"), *signatures.headers(DRAFTS, *RECORD)]
    signatures.verify(DRAFTS, *RECORD, headers)
    moved = [
        (TOPICS.named(TopicRole.GROUNDED), *RECORD),
        (Topics("staging.").named(TopicRole.DRAFTS), *RECORD),
        (DRAFTS, b"birdsong/2", RECORD[1]),
        (DRAFTS, None, RECORD[1]),
        (DRAFTS, RECORD[0], RECORD[1] + b" "),
        (DRAFTS, RECORD[0] + RECORD[1][:1], RECORD[1][1:]),
    ]
    elsewhere = Signatures([OLD], Topics("staging."))
    for topic, key, value in moved:
        with pytest.raises(UnsignedMessage):
            (elsewhere if topic.startswith("staging") else signatures).verify(topic, key, value, headers)


@pytest.mark.parametrize("header", [None, b"", b"0" * 64, b"\xff" * 64, "é".encode(), b"x" * 500_000])
def test_a_wrong_signature_is_told_from_none(header: bytes | None) -> None:
    headers = [] if header is None else [(SIGNATURE, header)]
    with pytest.raises(UnsignedMessage, match="no signature" if header is None else r"kafka\.signing_key"):
        Signatures([OLD], TOPICS).verify(DRAFTS, *RECORD, headers)


def test_keys_are_changed_without_a_gap() -> None:
    """First all accept the new key, then all sign with it, then the old one goes."""
    steps = [[OLD], [OLD, NEW], [NEW, OLD], [NEW]]
    for before, after in itertools.pairwise(steps):
        for writer, reader in ((before, after), (after, before)):
            headers = Signatures(writer, TOPICS).headers(DRAFTS, *RECORD)
            Signatures(reader, TOPICS).verify(DRAFTS, *RECORD, headers)
    with pytest.raises(UnsignedMessage):
        Signatures([NEW], TOPICS).verify(DRAFTS, *RECORD, Signatures([OLD], TOPICS).headers(DRAFTS, *RECORD))


def test_the_key_is_kept_on_one_machine_and_asked_for_on_several(tmp_path: Path) -> None:
    alone = Settings(data_dir=tmp_path, kafka=KafkaSettings(bootstrap="localhost:9092, [::1]:9093"))
    (kept,) = record_keys(alone)
    assert record_keys(alone) == (kept,)
    assert (tmp_path / "record.key").stat().st_mode & 0o777 == 0o600
    shared = KafkaSettings(bootstrap="127.0.0.1:9092,kafka.example:9092")
    with pytest.raises(BadSettings, match=r"REJOINDER_KAFKA__SIGNING_KEY is not set.*kafka\.example"):
        record_keys(Settings(data_dir=tmp_path, kafka=shared))
    file = tmp_path / "given"
    file.write_bytes(OLD + b"\n")
    given = shared.model_copy(update={"signing_key_file": file, "accepted_signing_key": SecretStr(NEW.decode())})
    assert record_keys(Settings(data_dir=tmp_path, kafka=given)) == (OLD, NEW)
    short = shared.model_copy(update={"signing_key": SecretStr("short")})
    with pytest.raises(BadSettings, match="SIGNING_KEY has 5 characters"):
        record_keys(Settings(data_dir=tmp_path, kafka=short))


class Untouched:
    """A stage that must see no message."""

    name: ClassVar = StageName.DESK

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        raise AssertionError("it was believed")


async def test_an_unsigned_record_is_given_up_unread_and_its_case_is_left_alone(tmp_path: Path) -> None:
    letters: list[tuple[str, bool]] = []

    async def write(
        message: Incoming, stage: StageName, error: str, *, undelivered: bool = False, fails_case: bool = True
    ) -> None:
        letters.append((error, fails_case))

    async def send(outgoing: Outgoing) -> None:
        raise AssertionError

    liveness = Liveness(60)
    with closing(InHand(tmp_path, 5, liveness)) as in_hand:
        delivery = Delivery(Untouched(), Signatures([OLD], TOPICS), send, write, StreamSettings(), liveness, in_hand)
        await delivery.deliver(Incoming(DRAFTS, 0, 7, *RECORD))
    [(error, fails_case)] = letters
    assert "no signature" in error and not fails_case


async def grounded(ledger: Ledger, number: int) -> FlaggedPost:
    post = make_post(number, platform="birdsong")
    await ledger.stages.triage(post, make_triage())
    await ledger.stages.ground(post.key, make_grounding(), DraftRequest())
    return post


class Finder:
    """An evidence finder with one answer."""

    async def ground(
        self, post: FlaggedPost, triage: Triage, *, strategy: StrategyName | None = None, last_attempt: bool = False
    ) -> Grounding:
        return make_grounding()


@pytest.mark.live
async def test_a_forged_draft_is_never_shown_and_an_unsigned_record_of_before_is_not_lost(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    """The attack of the issue, and the upgrade from a version that signed nothing: the sweeper asks again."""
    forged, real = await grounded(ledger, 1), await grounded(ledger, 2)
    before = make_post(3, platform="birdsong")
    await ledger.stages.triage(before, make_triage())
    drafts = topics.named(TopicRole.DRAFTS)
    async with Producer(settings.kafka) as attacker:
        await attacker.send(drafts, forged.key, encode(make_draft(forged.key, text="Vile. Words.", checks=())))
        triaged = encode(Triaged(post=before, triage=make_triage()))
        await attacker.send(topics.named(TopicRole.TRIAGED), before.key, triaged)
    await producer.send(drafts, real.key, encode(make_draft(real.key)))
    [copied] = [record async for record in read_topic(settings.kafka, drafts) if record.key == real.key.encode()]
    async with Producer(settings.kafka) as attacker:
        await attacker.send(drafts, forged.key, copied.value, {SIGNATURE: dict(copied.headers)[SIGNATURE].decode()})
    stop = asyncio.Event()
    stages: list[Stage] = [DeskStage(ledger), GroundStage(ledger, Finder(), DraftRequest().intent)]
    worker = asyncio.ensure_future(run_worker(settings, stages, DeadLetterWriter(producer, topics, ledger), stop))

    async def states() -> list[CaseState]:
        return [(await ledger.cases.get(post.key)).state for post in (forged, real, before)]

    async with asyncio.timeout(120):
        while len([None async for _ in read_dead_letters(settings.kafka)]) < 3 or (
            (await states())[1] is not CaseState.PENDING
        ):
            await asyncio.sleep(0.1)
        assert await states() == [CaseState.GROUNDED, CaseState.PENDING, CaseState.TRIAGED]
        await Sweeper(ledger, producer, settings).sweep(now())
        while (await states())[2] is not CaseState.GROUNDED:
            await asyncio.sleep(0.1)
    stop.set()
    await worker
    waiting = [record async for record in read_topic(settings.kafka, topics.named(TopicRole.GROUNDED))]
    assert {record.key for record in waiting} >= {forged.key.encode(), before.key.encode()}
    for record in waiting:
        Signatures.of(settings).verify(record.topic, record.key, record.value, record.headers)


@pytest.mark.live
async def test_replay_signs_anew_what_was_signed_and_sends_nothing_else(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics
) -> None:
    topic = topics.named(TopicRole.GROUNDED)
    first, second = await grounded(ledger, 1), await grounded(ledger, 2)
    old, new = Signatures([OLD], topics), Signatures([NEW, OLD], topics)
    writer = DeadLetterWriter(producer, topics, ledger)
    for post, signatures in ((first, old), (second, Signatures([b"a stranger's key"], topics))):
        case = await ledger.cases.get(post.key)
        message = Grounded.of(case, case.request)
        assert message is not None
        key, value = post.key.encode(), encode(message)
        incoming = Incoming(topic, 0, 1, key, value, tuple(signatures.headers(topic, key, value)))
        await writer.write(incoming, StageName.DRAFT, "the model was away")
    [sent] = await replay(settings.kafka, ledger, new)
    assert sent.letter.key == first.key
    assert (await ledger.cases.get(second.key)).state is CaseState.FAILED
    [record] = [record async for record in read_topic(settings.kafka, topic)]
    Signatures([NEW], topics).verify(topic, record.key, record.value, record.headers)
