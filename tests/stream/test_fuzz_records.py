"""Spoiled records through everything that reads a topic or takes flags: refused or worked on, and the next one goes on.

Hypothesis draws the same examples in every run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from sqlalchemy import text

from core.domain import Draft, DraftRequest, FlaggedPost, Grounding, Intent, StrategyName, Triage
from core.errors import BadInput, BadMessage
from core.lifecycle import StageName
from core.settings import KafkaSettings, StreamSettings
from ledger import Ledger
from stream import dead_letters
from stream.dead_letters import letter_of, read_dead_letters
from stream.delivery import Delivery, Incoming
from stream.gateway import parse, validate
from stream.in_hand import InHand
from stream.ingest import IngestReport, read_line
from stream.intake import posts
from stream.liveness import Liveness
from stream.messages import DeadLetter, Grounded, Triaged, decode, encode
from stream.signing import Signatures
from stream.stages import DeskStage, DraftStage, GroundStage, Outgoing, Stage, TriageStage
from stream.topics import Topics
from tests.factories import make_triage
from tests.stream.hostile_records import SECRET, VALID, spoiled

# A drawn example is checked whole in milliseconds, but not on a machine that does four other things.
steady = partial(
    settings, derandomize=True, database=None, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip

GROUNDING = Grounding.model_validate(VALID[Grounded]["grounding"])


@pytest.mark.parametrize("kind", VALID, ids=lambda kind: kind.__name__)
def test_the_records_are_valid_before_they_are_spoiled(kind: type[BaseModel]) -> None:
    record = decode(json.dumps(VALID[kind]).encode(), kind)
    assert decode(encode(record), kind) == record


@pytest.mark.parametrize("kind", VALID, ids=lambda kind: kind.__name__)
def test_bytes_are_a_record_that_can_be_sent_on_and_stored_or_a_bad_message(kind: type[BaseModel]) -> None:
    @steady(max_examples=300)
    @given(spoiled(kind))
    def check(data: bytes) -> None:
        try:
            record = decode(data, kind)
        except BadMessage as error:
            assert SECRET not in str(error)
            str(error).encode()
        else:
            assert decode(encode(record), kind) == record
            assert kind.model_validate_json(record.model_dump_json()) == record

    check()


@steady(max_examples=150)
@given(st.lists(spoiled(FlaggedPost), min_size=1, max_size=4), st.sampled_from([b"\n", b",", b"\r\n\n"]))
def test_what_comes_in_by_http_file_or_topic_is_taken_or_refused(bodies: list[bytes], between: bytes) -> None:
    body = between.join(bodies) if between != b"," else b"[" + between.join(bodies) + b"]"
    try:
        items = parse(body, 1000)
    except BadInput as error:
        assert SECRET not in str(error)
    else:
        taken, refused = validate(items)
        assert sorted([*taken, *refused]) == list(range(len(items)))
        assert SECRET not in str(refused) and all(encode(post) for post in taken.values())
    report = IngestReport()
    read = [read_line(data, number, report) for number, data in enumerate(bodies)]
    assert SECRET not in str(report.complaints)
    records: Any = [SimpleNamespace(value=data) for data in bodies]
    assert len(posts(records)) <= len(bodies) and len(read) == len(bodies)


@steady(max_examples=100)
@given(st.lists(spoiled(DeadLetter), max_size=5))
def test_the_dead_letters_are_listed_whatever_lies_between_them(letters: list[bytes]) -> None:
    good = json.dumps(VALID[DeadLetter]).encode()

    async def read_topic(*_: object) -> AsyncIterator[Any]:
        for offset, value in enumerate([*letters, good]):
            yield SimpleNamespace(partition=0, offset=offset, value=value)

    async def places() -> list[str]:
        return [item.place async for item in read_dead_letters(KafkaSettings())]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dead_letters, "read_topic", read_topic)
        assert asyncio.run(places())[-1] == f"0:{len(letters)}"


class Models:
    """Triager, grounder and drafter in one, with one answer each."""

    async def triage(self, post: FlaggedPost, *, duplicate_of: str | None = None) -> Triage:
        return make_triage()

    async def ground(
        self, post: FlaggedPost, triage: Triage, *, strategy: StrategyName | None = None, last_attempt: bool = False
    ) -> Grounding:
        return GROUNDING

    async def draft(
        self, post: FlaggedPost, triage: Triage, grounding: Grounding, request: DraftRequest,
        *, last_attempt: bool = False,
    ) -> Draft:  # fmt: skip
        record = VALID[Draft] | {"case_key": post.key, "number": request.number}
        return Draft.model_validate(record)


class Ends:
    """What a stage sent on, and the letters it wrote."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    async def send(self, outgoing: Outgoing) -> None:
        assert encode(outgoing.record)

    async def write(
        self, message: Incoming, stage: StageName, error: str, *, undelivered: bool = False, fails_case: bool = True
    ) -> None:
        letter = letter_of(message, stage, error)
        assert decode(encode(letter), DeadLetter) == letter and SECRET not in letter.error
        await self.ledger.stages.fail("birdsong/1", stage, error, undelivered=undelivered)


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as opened:
        yield opened


@pytest.fixture(scope="module")
def ledger(runner: asyncio.Runner, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    file: Path = tmp_path_factory.mktemp("fuzz") / "ledger.db"
    opened = runner.run(Ledger.open(f"sqlite+aiosqlite:///{file}", b"key"))
    runner.run(opened.migrate())
    runner.run(_execute(opened, "DROP TRIGGER history_no_delete"))
    yield opened
    runner.run(opened.close())


@pytest.mark.parametrize("name", list(StageName))
def test_every_stage_carries_every_message_to_its_end(
    name: StageName, runner: asyncio.Runner, ledger: Ledger, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    models = Models()
    stages: dict[StageName, tuple[Stage, type[BaseModel]]] = {
        StageName.TRIAGE: (TriageStage(ledger, models), FlaggedPost),
        StageName.GROUND: (GroundStage(ledger, models, Intent.POSITIVE), Triaged),
        StageName.DRAFT: (DraftStage(ledger, models), Grounded),
        StageName.DESK: (DeskStage(ledger), Draft),
    }
    stage, kind = stages[name]
    ends = Ends(ledger)
    signatures = Signatures([b"k" * 16], Topics("t."))
    waits = StreamSettings(attempts=2, backoff_s=0.001, backoff_max_s=0.001)
    liveness = Liveness(60)
    in_hand = InHand(tmp_path / "in-hand", waits.attempts, liveness)
    delivery = Delivery(stage, signatures, ends.send, ends.write, waits, liveness, in_hand)

    @steady(max_examples=40)
    @given(spoiled(kind), st.none() | st.binary(max_size=20))
    def check(value: bytes, key: bytes | None) -> None:
        caplog.clear()
        runner.run(_afresh(ledger, name))
        message = Incoming("topic", 0, 1, key, value, (("trace", b""), ("\x1b", b"\xff")))
        runner.run(asyncio.wait_for(delivery.deliver(message), 10))
        assert "no dead letter could be written" not in caplog.text and SECRET not in caplog.text
        runner.run(ledger.cases.page())

    with closing(in_hand):
        check()


async def _afresh(ledger: Ledger, name: StageName) -> None:
    """Empty the ledger and bring the valid record's case to where the stage takes it over."""
    await _execute(ledger, *(f"DELETE FROM {table}" for table in ("outbox", "history", "drafts", "cases")))
    post = FlaggedPost.model_validate(VALID[FlaggedPost])
    if name is not StageName.TRIAGE:
        await ledger.stages.triage(post, make_triage())
    if name in (StageName.DRAFT, StageName.DESK):
        await ledger.stages.ground(post.key, GROUNDING, DraftRequest())


async def _execute(ledger: Ledger, *statements: str) -> None:
    async with ledger._database.write(durable=False) as connection:
        for statement in statements:
            await connection.execute(text(statement))
