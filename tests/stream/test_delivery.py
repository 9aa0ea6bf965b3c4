"""What becomes of a message, by the table in stream/delivery.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Protocol

import pytest
from pydantic import ValidationError

from core.domain import FlaggedPost
from core.errors import (
    BadMessage,
    BrokerUnavailable,
    DeadlyMessage,
    EmbedderUnavailable,
    LedgerUnavailable,
    MessageTooLarge,
    ModelUnavailable,
)
from core.lifecycle import StageName
from core.settings import StreamSettings
from stream.delivery import Delivery, Incoming
from stream.in_hand import InHand
from stream.liveness import Liveness
from stream.messages import encode
from stream.signing import Signatures
from stream.stages import Outgoing
from stream.topics import Topics
from tests.core.turned_clock import TurnedClock
from tests.factories import make_post

POST = make_post(platform="birdsong")
RESULT = Outgoing(POST.key, POST)
MESSAGE = Incoming("flags", 0, 7, b"birdsong/1", b"{}")
SIGNATURES = Signatures([b"k" * 16], Topics("t."))
SETTINGS = StreamSettings(attempts=3, backoff_s=1, backoff_max_s=15)


class Script:
    """A stage that does what the script says, one entry a try; then returns RESULT."""

    name: ClassVar = StageName.TRIAGE

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.last_attempts: list[bool] = []

    async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
        self.last_attempts.append(last_attempt)
        if self.errors:
            raise self.errors.pop(0)
        return RESULT


class Ends:
    """What was sent and what went to dead letters; both fail first where told to."""

    def __init__(self, send_errors: int = 0, write_errors: int = 0) -> None:
        self.sent: list[Outgoing] = []
        self.dead_letters: list[tuple[Incoming, StageName, str]] = []
        self._send_errors = send_errors
        self._write_errors = write_errors

    async def send(self, outgoing: Outgoing) -> None:
        if self._send_errors:
            self._send_errors -= 1
            raise BrokerUnavailable("away")
        self.sent.append(outgoing)

    async def write(
        self, message: Incoming, stage: StageName, error: str, *, undelivered: bool = False, fails_case: bool = True
    ) -> None:
        self.undelivered = undelivered
        self.fails_case = fails_case
        if self._write_errors:
            self._write_errors -= 1
            raise LedgerUnavailable("away")
        self.dead_letters.append((message, stage, error))


class Deliver(Protocol):
    """The way of one message, which returns the waits between the tries."""

    async def __call__(self, script: Script, ends: Ends, message: Incoming = MESSAGE) -> list[float]: ...


@pytest.fixture
def deliver(tmp_path: Path) -> Deliver:
    async def run(script: Script, ends: Ends, message: Incoming = MESSAGE) -> list[float]:
        clock, liveness = TurnedClock(), Liveness(60)
        in_hand = InHand(tmp_path, SETTINGS.attempts, liveness)
        await Delivery(script, SIGNATURES, ends.send, ends.write, SETTINGS, liveness, in_hand, clock).deliver(message)
        in_hand.close()
        return clock.slept

    return run


async def test_a_result_is_sent_downstream_once(deliver: Deliver) -> None:
    ends = Ends()
    await deliver(Script(), ends)
    assert ends.sent == [RESULT] and not ends.dead_letters


async def test_a_bad_message_is_given_up_at_once_with_its_reason(deliver: Deliver) -> None:
    script, ends = Script(BadMessage("The message is not JSON.")), Ends()
    await deliver(script, ends)
    assert ends.dead_letters == [(MESSAGE, StageName.TRIAGE, "The message is not JSON.")]
    assert len(script.last_attempts) == 1 and not ends.sent


@pytest.mark.parametrize("error", [BrokerUnavailable("away"), LedgerUnavailable("away"), EmbedderUnavailable("away")])
async def test_an_outage_is_waited_out_however_long(deliver: Deliver, error: Exception) -> None:
    ends = Ends()
    waits = await deliver(Script(*[error] * 20), ends)
    assert waits == [1, 2, 4, 8] + [15] * 16
    assert ends.sent == [RESULT] and not ends.dead_letters


async def test_an_outage_uses_up_no_tries(deliver: Deliver) -> None:
    outage = [LedgerUnavailable("away")] * SETTINGS.attempts
    ends, script = Ends(), Script(*outage, ZeroDivisionError("once"))
    assert await deliver(script, ends) == [1, 2, 4, 1]
    assert ends.sent == [RESULT] and not ends.dead_letters and not any(script.last_attempts)
    ends, script = Ends(), Script(*outage, ModelUnavailable("away"), ModelUnavailable("away"))
    assert await deliver(script, ends) == [1, 2, 4, 1, 2]
    assert ends.sent == [RESULT] and script.last_attempts == [False] * 5 + [True]


async def test_a_send_that_fails_is_tried_again(deliver: Deliver) -> None:
    ends = Ends(send_errors=5)
    await deliver(Script(), ends)
    assert ends.sent == [RESULT] and not ends.dead_letters


async def test_a_model_that_is_away_is_tried_as_often_as_set_and_the_stage_knows_the_last_try(deliver: Deliver) -> None:
    script, ends = Script(*[ModelUnavailable("away")] * 3), Ends()
    assert await deliver(script, ends) == [1, 2]
    assert script.last_attempts == [False, False, True]
    assert [reason for _, _, reason in ends.dead_letters] == ["away"]


async def test_a_model_that_comes_back_is_used(deliver: Deliver) -> None:
    ends = Ends()
    await deliver(Script(ModelUnavailable("away"), ModelUnavailable("away")), ends)
    assert ends.sent == [RESULT] and not ends.dead_letters


async def test_a_fault_is_tried_once_more_then_given_up_with_its_type(deliver: Deliver) -> None:
    script, ends = Script(ZeroDivisionError("oops"), ZeroDivisionError("oops")), Ends()
    await deliver(script, ends)
    assert [reason for _, _, reason in ends.dead_letters] == ["ZeroDivisionError: oops"]
    assert len(script.last_attempts) == 2


async def test_a_result_too_large_to_send_is_given_up_at_once_as_undelivered(deliver: Deliver) -> None:
    script, ends = Script(MessageTooLarge("1,100,000 bytes")), Ends()
    await deliver(script, ends)
    assert ends.dead_letters == [(MESSAGE, StageName.TRIAGE, "1,100,000 bytes")] and ends.undelivered
    assert len(script.last_attempts) == 1


@pytest.mark.parametrize(
    ("topic", "value", "fails_case"),
    [
        ("t.flags", encode(POST), True),
        ("t.flags", encode(make_post(7, platform="birdsong")), False),
        ("t.flags", b"{}", False),
        ("t.flags", None, False),
        ("t.triaged", b"{}", True),
    ],
)
@pytest.mark.parametrize(
    "error", [BadMessage("not JSON"), DeadlyMessage("the worker ended 3 times"), MessageTooLarge("1,100,000 bytes")]
)
async def test_only_what_is_signed_or_a_flag_of_its_case_fails_the_case_that_its_key_names(
    deliver: Deliver, topic: str, value: bytes | None, error: Exception, fails_case: bool
) -> None:
    ends, message = Ends(), replace(MESSAGE, key=POST.key.encode(), topic=topic, value=value)
    headers = SIGNATURES.headers(topic, message.key, value)
    await deliver(Script(error), ends, replace(message, headers=tuple(headers)))
    assert len(ends.dead_letters) == 1 and ends.fails_case is fails_case


async def test_a_fault_in_a_record_is_named_without_its_text(deliver: Deliver) -> None:
    with pytest.raises(ValidationError) as caught:
        FlaggedPost.model_validate({"platform": "vile words", "post_id": "1", "text": "x"})
    ends = Ends()
    await deliver(Script(caught.value, caught.value), ends)
    [(_, _, reason)] = ends.dead_letters
    assert "platform" in reason and "vile" not in reason


async def test_a_letter_that_cannot_be_written_does_not_end_the_stage(
    deliver: Deliver, caplog: pytest.LogCaptureFixture
) -> None:
    class Unwritable(Ends):
        async def write(
            self, message: Incoming, stage: StageName, error: str, *, undelivered: bool = False, fails_case: bool = True
        ) -> None:
            raise ValueError("no")

    await deliver(Script(BadMessage("not JSON")), Unwritable())
    assert "flags 0:7" in caplog.text


async def test_a_dead_letter_waits_for_the_ledger_too(deliver: Deliver) -> None:
    ends = Ends(write_errors=4)
    assert await deliver(Script(BadMessage("no")), ends) == [1, 2, 4, 8]
    assert len(ends.dead_letters) == 1


async def test_a_message_is_noted_as_in_hand_while_a_stage_works_on_it(deliver: Deliver, tmp_path: Path) -> None:
    class Looking(Script):
        async def handle(self, value: bytes | None, *, last_attempt: bool = False) -> Outgoing | None:
            self.noted = (tmp_path / "flags-0").read_text()
            return await super().handle(value, last_attempt=last_attempt)

    script = Looking()
    await deliver(script, Ends())
    assert script.noted.endswith(" 000001\n")
    assert (tmp_path / "flags-0").read_text().endswith(" 000000\n")
    (tmp_path / "flags-0").write_text(script.noted.replace("000001", f"{SETTINGS.attempts:06}"))
    ends, untouched = Ends(), Script()
    await deliver(untouched, ends)
    [(_, _, reason)] = ends.dead_letters
    assert "The worker ended 3 times" in reason and not untouched.last_attempts
