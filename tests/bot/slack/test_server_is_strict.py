"""The Slack of the tests refuses what Slack refuses; otherwise the other tests would prove nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.bot.slack.block_kit import complaints_about_message, complaints_about_modal
from tests.bot.slack.server import APP_TOKEN, BOT_TOKEN, TEAM, Slack, slack_server

PLAIN = {"type": "plain_text", "text": "fine"}
BUTTON = {"type": "button", "action_id": "go", "text": PLAIN}
INPUT = {"type": "input", "block_id": "b", "label": PLAIN, "element": {"type": "plain_text_input", "action_id": "t"}}
MODAL = {"type": "modal", "title": PLAIN, "blocks": [INPUT], "submit": PLAIN}


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


@pytest.fixture
async def slack() -> AsyncIterator[Slack]:
    async with slack_server() as slack:
        yield slack


def client(slack: Slack, token: str = BOT_TOKEN) -> AsyncWebClient:
    return AsyncWebClient(token=token, base_url=slack.base_url)


@pytest.mark.parametrize(
    "blocks",
    [
        [section("x" * 3001)],
        [section("")],
        [section("fine")] * 51,
        [{"type": "section"}],
        [{"type": "marquee", "text": PLAIN}],
        [{**section("fine"), "colour": "red"}],
        [{"type": "header", "text": {"type": "mrkdwn", "text": "no"}}],
        [{"type": "actions", "elements": [{**BUTTON, "text": {"type": "plain_text", "text": "x" * 76}}]}],
        [{"type": "actions", "elements": [{**BUTTON, "value": "x" * 2001}]}],
        [{"type": "actions", "elements": [{**BUTTON, "action_id": "x" * 256}]}],
        [{"type": "actions", "elements": [BUTTON, BUTTON]}],
        [{**section("a"), "block_id": "same"}, {**section("b"), "block_id": "same"}],
        [INPUT],
    ],
)
def test_blocks_that_slack_refuses_are_refused(blocks: list[dict[str, Any]]) -> None:
    assert complaints_about_message(blocks)


def test_blocks_that_slack_takes_are_taken() -> None:
    assert not complaints_about_message([section("x" * 3000), {"type": "actions", "elements": [BUTTON]}])
    assert not complaints_about_modal(MODAL)


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": {"type": "plain_text", "text": "x" * 25}},
        {"submit": None},
        {"private_metadata": "x" * 3001},
        {"blocks": []},
    ],
)
def test_modals_that_slack_refuses_are_refused(wrong: dict[str, Any]) -> None:
    assert complaints_about_modal(MODAL | wrong)


async def test_calls_are_refused_with_the_errors_of_slack(slack: Slack) -> None:
    async def error(call: Any) -> str:
        with pytest.raises(SlackApiError) as refused:
            await call
        return str(refused.value.response["error"])

    slack.at.add_channel(TEAM, "C0OLD", "old", archived=True)
    slack.at.add_channel(TEAM, "C0OUT", "outside", bot_inside=False)
    slack.at.add_channel("T0OTHER", "C0OTHER", "elsewhere")
    ours = client(slack)
    assert await error(client(slack, "xoxb-made-up").auth_test()) == "invalid_auth"
    assert await error(client(slack, "").auth_test()) == "not_authed"
    assert await error(client(slack, APP_TOKEN).auth_test()) == "not_allowed_token_type"
    assert await error(ours.api_call("chat.shout")) == "unknown_method"
    assert await error(ours.chat_postMessage(channel="C0NONE", text="hi")) == "channel_not_found"
    assert await error(ours.chat_postMessage(channel="C0OTHER", text="hi")) == "channel_not_found"
    assert await error(ours.chat_postMessage(channel="C0OLD", text="hi")) == "is_archived"
    assert await error(ours.chat_postMessage(channel="C0OUT", text="hi")) == "not_in_channel"
    assert await error(ours.api_call("chat.postMessage", json={"channel": "C0DESK"})) == "no_text"
    assert await error(ours.chat_update(channel="C0DESK", ts="1.000000", text="hi")) == "message_not_found"
    assert await error(ours.chat_postMessage(channel="C0DESK", text="hi", blocks=[section("")])) == "invalid_blocks"
    assert await error(ours.views_open(trigger_id="made up", view=MODAL)) == "invalid_trigger_id"
    slack.at.tokens[BOT_TOKEN].scopes.discard("chat:write")
    assert await error(ours.chat_postMessage(channel="C0DESK", text="hi")) == "missing_scope"
    slack.at.tokens[BOT_TOKEN].refused = "token_revoked"
    assert await error(ours.auth_test()) == "token_revoked"


async def test_a_trigger_opens_one_modal_and_grows_old(slack: Slack) -> None:
    ours = client(slack)
    trigger = slack.at.trigger(TEAM, "U0ANA")
    await ours.views_open(trigger_id=trigger, view=MODAL)
    with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
        await ours.views_open(trigger_id=trigger, view=MODAL)
    slack.at.trigger_s = 0
    with pytest.raises(SlackApiError, match="expired_trigger_id"):
        await ours.views_open(trigger_id=slack.at.trigger(TEAM, "U0ANA"), view=MODAL)


async def test_a_ticket_opens_one_socket_and_an_envelope_without_an_ack_comes_again(slack: Slack) -> None:
    url = (await client(slack, "").apps_connections_open(app_token=APP_TOKEN))["url"]
    slack.socket.ack_s = 0.1
    async with aiohttp.ClientSession() as session, session.ws_connect(url) as socket:
        assert (await socket.receive_json())["type"] == "hello"
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)
        sending = asyncio.create_task(slack.people.command("U0ANA", "C0DESK", "help"))
        first = await socket.receive_json()
        again = await socket.receive_json()
        assert first["envelope_id"] == again["envelope_id"]
        await socket.send_json({"envelope_id": again["envelope_id"]})
        assert (await sending).sends == 2
        await socket.send_json({"envelope_id": "made up"})
    assert [text.split(":")[0] for text in slack.socket.complaints][:1] == ["no ack within 0.1 s for slash_commands"]
