"""What a dead letter does to the case it is about, and when it does nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import pytest
from pydantic import BaseModel

from core.domain import CaseState, DraftRequest, FlaggedPost, Triage, now
from core.errors import MessageTooLarge
from core.lifecycle import STAGES, StageName
from core.settings import Settings
from ledger import Ledger
from stream.dead_letters import DeadLetterWriter, read_dead_letters, replay
from stream.delivery import Delivery, Incoming
from stream.in_hand import InHand
from stream.liveness import Liveness
from stream.messages import Grounded, Triaged, encode
from stream.outbox import OutboxPublisher
from stream.producer import Producer
from stream.signing import Signatures
from stream.stages import Outgoing, TriageStage
from stream.sweeper import Sweeper
from stream.topic_reader import read_topic
from stream.topics import Topics
from tests.factories import make_draft, make_grounding, make_post, make_triage

pytestmark = pytest.mark.live

POST = make_post()
KEY = POST.key


async def grounded(ledger: Ledger) -> None:
    await ledger.stages.triage(POST, make_triage())
    await ledger.stages.ground(KEY, make_grounding(), DraftRequest())


def message(number: int = 1) -> Grounded:
    """Return the message that asks for draft `number`."""
    request = DraftRequest(number=number)
    return Grounded(post=POST, triage=make_triage(), grounding=make_grounding(), request=request)


async def ask_again(ledger: Ledger, number: int) -> None:
    """Fail the case, and have a moderator ask for draft `number`."""
    await ledger.stages.fail(KEY, StageName.DRAFT, "the model was away")
    version, text = (await ledger.cases.get(KEY)).version, encode(message(number)).decode()
    await ledger.decisions.redraft(KEY, version, "ana", DraftRequest(number=number), text)


FIRST_DRAFT: dict[StageName, BaseModel] = {StageName.DRAFT: message(), StageName.DESK: make_draft(KEY)}


@pytest.mark.parametrize("stage", FIRST_DRAFT)
async def test_a_late_letter_about_a_draft_leaves_a_case_that_waits_for_the_next(
    ledger: Ledger, producer: Producer, topics: Topics, stage: StageName
) -> None:
    late = Incoming(topics.named(STAGES[stage].reads), 0, 7, KEY.encode(), encode(FIRST_DRAFT[stage]))
    writer = DeadLetterWriter(producer, topics, ledger)
    await grounded(ledger)
    await ask_again(ledger, 2)
    await writer.write(late, stage, "the model is away")
    case = await ledger.cases.get(KEY)
    assert (case.state, case.request.number) == (CaseState.GROUNDED, 2)


@pytest.mark.parametrize(("number", "state"), [(1, CaseState.TRIAGED), (2, CaseState.FAILED), (None, CaseState.FAILED)])
async def test_a_late_letter_about_evidence_leaves_a_case_that_waits_for_evidence_for_the_next_draft(
    ledger: Ledger, producer: Producer, topics: Topics, number: int | None, state: CaseState
) -> None:
    triaged = encode(Triaged(post=POST, triage=make_triage(), number=number))
    late = Incoming(topics.named(STAGES[StageName.GROUND].reads), 0, 7, KEY.encode(), triaged)
    await grounded(ledger)
    await ledger.stages.draft(make_draft(KEY))
    version = (await ledger.cases.get(KEY)).version
    await ledger.decisions.redraft(KEY, version, "ana", DraftRequest(number=2), triaged.decode(), to=CaseState.TRIAGED)
    await DeadLetterWriter(producer, topics, ledger).write(late, StageName.GROUND, "the model is away")
    assert (await ledger.cases.get(KEY)).state is state


class Drafting:
    """A triager that sends every post on."""

    async def triage(self, post: FlaggedPost, *, duplicate_of: str | None = None) -> Triage:
        return make_triage()


async def test_a_flag_that_cannot_be_read_leaves_the_case_that_its_key_names(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics, signatures: Signatures
) -> None:
    sent = []

    async def send(outgoing: Outgoing) -> None:
        sent.append(outgoing.key)

    liveness = Liveness(60)
    in_hand, writer = InHand(settings.data_dir / "in-hand", 3, liveness), DeadLetterWriter(producer, topics, ledger)
    stage = TriageStage(ledger, Drafting())
    delivery = Delivery(stage, signatures, send, writer.write, settings.stream, liveness, in_hand)
    await ledger.stages.receive([POST])
    for offset, flag in enumerate((encode(POST).replace(b'"text"', b'"txet"'), encode(POST))):
        await delivery.deliver(Incoming(topics.flags, 0, offset, KEY.encode(), flag))
    in_hand.close()
    assert (await ledger.cases.get(KEY)).state is CaseState.TRIAGED and sent == [KEY]
    [item] = [letter async for letter in read_dead_letters(settings.kafka)]
    assert "text: is missing" in item.letter.error


class SmallBroker(Producer):
    """A producer whose broker takes messages of 4,000 bytes at most."""

    async def send(
        self, topic: str, key: str | bytes | None, value: bytes | None, headers: Mapping[str, str] | None = None
    ) -> None:
        if len(value or b"") > 4_000:
            raise MessageTooLarge("too large for the broker")
        await super().send(topic, key, value, headers)


async def test_a_letter_too_large_for_the_broker_points_to_its_message_and_fails_the_case(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics, signatures: Signatures
) -> None:
    await ledger.stages.triage(POST, make_triage())
    triaged = topics.named(STAGES[StageName.GROUND].reads)
    value = encode(Triaged(post=POST.model_copy(update={"context": ("x" * 5_000,)}), triage=make_triage()))
    await producer.send(triaged, KEY, value)
    [record] = [record async for record in read_topic(settings.kafka, triaged)]
    message = Incoming(triaged, record.partition, record.offset, record.key, record.value, tuple(record.headers))
    async with SmallBroker(settings.kafka) as small:
        await DeadLetterWriter(small, topics, ledger).write(message, StageName.GROUND, "the model was away")
    [item] = [letter async for letter in read_dead_letters(settings.kafka)]
    assert (item.letter.value, item.letter.headers, item.letter.offset) == (None, (), record.offset)
    assert (await ledger.cases.get(KEY)).state is CaseState.FAILED
    assert len(await replay(settings.kafka, ledger, signatures)) == 1
    assert [record.value async for record in read_topic(settings.kafka, triaged)] == [value, value]


async def test_a_replay_brings_no_post_back_that_retention_removed(
    ledger: Ledger, producer: Producer, settings: Settings, topics: Topics, signatures: Signatures,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    writer = DeadLetterWriter(producer, topics, ledger)
    flag = Incoming(topics.flags, 0, 7, KEY.encode(), encode(POST))
    await ledger.stages.receive([POST])
    await writer.write(flag, StageName.TRIAGE, "the model was away")
    await ledger.erasure.erase(KEY, "retention", "too old")
    [row] = await ledger.outbox.lease("publisher", 30, 10)
    await ledger.outbox.note_sent(row, "publisher")
    assert await ledger.erasure.prune(KEY)
    assert await replay(settings.kafka, ledger, signatures) == []
    assert "because retention has removed their cases: 1" in caplog.text
    await writer.write(flag, StageName.TRIAGE, "flagged anew, and the model was away again")
    assert len(await replay(settings.kafka, ledger, signatures)) == 1


class SlowRefusal(Producer):
    """A producer whose broker refuses the first message, but so late that meanwhile something else has happened."""

    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def send(
        self, topic: str, key: str | bytes | None, value: bytes | None, headers: Mapping[str, str] | None = None
    ) -> None:
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
            raise MessageTooLarge("1,100,000 bytes")


@pytest.mark.parametrize("sender", ["sweeper", "outbox"])
async def test_a_refusal_that_comes_late_leaves_a_case_that_waits_for_the_next_draft(
    ledger: Ledger, settings: Settings, sender: str
) -> None:
    async def ask_for_the_third() -> None:
        await ask_again(ledger, 3)

    await grounded(ledger)
    await ask_again(ledger, 2)
    async with SlowRefusal(settings.kafka) as producer:
        producer.meanwhile = ask_for_the_third
        if sender == "sweeper":
            await Sweeper(ledger, producer, settings).sweep(now(), topics_are_lost=True)
        else:
            await OutboxPublisher(ledger, producer, settings).publish_due()
    case = await ledger.cases.get(KEY)
    assert (case.state, case.request.number) == (CaseState.GROUNDED, 3)
