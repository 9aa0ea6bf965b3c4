"""From a flag to the platform's reply through Slack, with the real broker, worker and ledger."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.auth import Auth
from bot.changes import Changes
from bot.desk import Desk
from core.settings import DeskSettings, Settings
from core.tokens import TokenTable
from ledger import Ledger
from rejoinder.assembly import open_guard
from tests.bot.conftest import House
from tests.bot.slack import conftest
from tests.bot.slack.conftest import Floor, buttons
from tests.bot.slack.server import Slack

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]

slack = conftest.slack
FLAG = {"platform": "birdsong", "post_id": "s1", "text": "Women have no business in parliament.", "language": "en"}
UNDO_S = 2.0


@asynccontextmanager
async def bot_beside(demo: Any, slack: Slack) -> AsyncIterator[Floor]:
    """Run a Slack bot on the demo's ledger."""
    ledger = await Ledger.open(f"sqlite+aiosqlite:///{demo.data / 'ledger.db'}", b"another key")
    settings, guard = DeskSettings(undo_s=UNDO_S), open_guard(Settings())
    desk, changes = Desk(ledger, guard, settings), Changes(ledger.history)
    floor = Floor(slack, House(ledger, desk, changes, Auth(TokenTable({})), guard, settings))
    try:
        async with floor.working():
            yield floor
    finally:
        await ledger.close()


async def test_a_flag_is_answered_through_slack_and_the_card_follows_it_to_its_release(
    start_demo: Callable[..., Awaitable[Any]], slack: Slack
) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples", REJOINDER_DESK__UNDO_S=str(UNDO_S))
    async with bot_beside(demo, slack) as floor:
        await demo.send([FLAG])
        await conftest.until(lambda: bool(floor.cards()), 90)
        draft = (await demo.get("/v1/cases/birdsong/s1"))["drafts"][-1]["text"]
        await floor.press("approve")
        async with asyncio.timeout(2):
            await floor.card("ana approved it")
        assert (await demo.get("/v1/cases/birdsong/s1"))["state"] == "approved"
        await conftest.until(lambda: buttons(floor.cards()[0]) == ["show", "evidence"], 30)
        await floor.card("the reply has left")
        assert [(reply["case_key"], reply["text"]) for reply in await demo.replies()] == [("birdsong/s1", draft)]
    assert slack.socket.complaints == []


async def test_a_decision_in_the_browser_reaches_slack_within_two_seconds(
    start_demo: Callable[..., Awaitable[Any]], slack: Slack
) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples", REJOINDER_DESK__UNDO_S=str(UNDO_S))
    async with bot_beside(demo, slack) as floor:
        await demo.send([FLAG])
        await conftest.until(lambda: bool(floor.cards()), 90)
        version = (await demo.get("/v1/cases/birdsong/s1"))["version"]
        status, _ = await demo.decide("birdsong/s1", action="reject", version=version, reason="tone")
        assert status == 200
        async with asyncio.timeout(2):
            await floor.card("rejected it (tone)")
