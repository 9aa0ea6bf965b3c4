from __future__ import annotations

import time
from collections.abc import AsyncIterator
from urllib.parse import urlencode

import pytest
from aiohttp.test_utils import TestServer

from bot.slack.signed_http import PATH, SignedEndpoint
from core.domain import CaseState
from tests.bot.samples import add_pending, post
from tests.bot.slack.conftest import ANA, Floor
from tests.bot.slack.people import Door, signed
from tests.bot.slack.server import SIGNING_SECRET

BODY = urlencode({"command": "/rejoinder", "text": "help", "team_id": "T0FIRST", "user_id": ANA, "channel_id": "C0DESK",
                  "trigger_id": "1", "response_url": "http://127.0.0.1:9/nobody"}).encode()  # fmt: skip
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
async def over_http(floor: Floor) -> AsyncIterator[Floor]:
    floor.open()
    door = TestServer(SignedEndpoint(floor.bot.app, SIGNING_SECRET).application())
    async with door as server, floor.working(socket=False):
        floor.slack.people.door = Door(str(server.make_url(PATH)), SIGNING_SECRET)
        yield floor


async def test_what_slack_signed_is_carried_out(over_http: Floor) -> None:
    key = await add_pending(over_http.house.ledger, post(1))
    answer = await over_http.press("approve")
    assert (answer.status, answer.payload) == (200, None)
    await over_http.card("ana approved it")
    assert (await over_http.house.desk.case(key)).state is CaseState.APPROVED


async def test_a_modal_works_over_http(over_http: Floor) -> None:
    key = await add_pending(over_http.house.ledger, post(1))
    await over_http.press("reject")
    view = await over_http.modal("reject")
    answer = await over_http.slack.people.submit(ANA, view.id, {"chosen": "tone"})
    assert (answer.status, answer.payload) == (200, None)
    assert (await over_http.house.desk.case(key)).state is CaseState.REJECTED


@pytest.mark.parametrize(
    "headers",
    [
        {},
        signed("another secret", BODY),
        signed(SIGNING_SECRET, BODY + b"&more=1"),
        signed(SIGNING_SECRET, BODY, at=time.time() - 400),
        signed(SIGNING_SECRET, BODY, at=time.time() + 4000),
        signed(SIGNING_SECRET, BODY) | {"X-Slack-Signature": "v0="},
        signed(SIGNING_SECRET, BODY) | {"X-Slack-Signature": "v0=é"},
        signed(SIGNING_SECRET, BODY) | {"X-Slack-Request-Timestamp": "now"},
        signed(SIGNING_SECRET, BODY) | {"X-Slack-Request-Timestamp": "9" * 400},
    ],
    ids=["none", "foreign", "other body", "old", "ahead", "empty", "not ASCII", "no number", "huge number"],
)
async def test_what_slack_did_not_sign_is_refused(over_http: Floor, headers: dict[str, str]) -> None:
    assert (await over_http.slack.people.knock(BODY, headers | FORM)).status == 401


async def test_a_body_that_is_not_text_is_refused(over_http: Floor) -> None:
    body = b"\xff\xfe"
    assert (await over_http.slack.people.knock(body, signed(SIGNING_SECRET, body) | FORM)).status == 401


async def test_a_replay_is_refused_the_same_thing_signed_anew_is_answered_but_done_once(over_http: Floor) -> None:
    first = signed(SIGNING_SECRET, BODY)
    assert (await over_http.slack.people.knock(BODY, first | FORM)).status == 200
    assert (await over_http.slack.people.knock(BODY, first | FORM)).status == 401
    anew = signed(SIGNING_SECRET, BODY, at=int(first["X-Slack-Request-Timestamp"]) - 1)
    assert (await over_http.slack.people.knock(BODY, anew | FORM)).status == 200


async def test_a_wrong_signature_is_logged_without_the_body(over_http: Floor, caplog: pytest.LogCaptureFixture) -> None:
    await over_http.slack.people.knock(BODY, FORM)
    assert "not signed by Slack" in caplog.text and "help" not in caplog.text
