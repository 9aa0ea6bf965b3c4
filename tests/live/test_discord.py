"""From a flag to the platform's reply through Discord, with the real broker, worker and ledger."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.desk import Desk
from bot.discord.client import DeskClient
from bot.discord.connection import stay_connected
from core.settings import CareSettings, DeskSettings, DiscordSettings, Settings
from ledger import Ledger
from rejoinder.assembly import open_guard
from tests.bot.discord import conftest
from tests.bot.discord.look import field, labels

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]

platform = conftest.platform
FLAG = {"platform": "birdsong", "post_id": "d1", "text": "Women have no business in parliament.", "language": "en"}
UNDO_S = 2.0


@asynccontextmanager
async def bot_beside(demo: Any, settings: DiscordSettings) -> AsyncIterator[None]:
    """Run the bot on the demo's ledger."""
    ledger = await Ledger.open(f"sqlite+aiosqlite:///{demo.data / 'ledger.db'}", b"another key")
    desk = Desk(ledger, open_guard(Settings()), DeskSettings(undo_s=UNDO_S))
    stop = asyncio.Event()
    bot = asyncio.create_task(
        stay_connected(lambda: DeskClient(ledger, desk, settings, CareSettings()), conftest.TOKEN, stop)
    )
    try:
        yield
    finally:
        stop.set()
        await bot
        await ledger.close()


async def test_a_flag_is_answered_through_discord_and_every_surface_shows_it(
    start_demo: Callable[..., Awaitable[Any]], wait_until: Callable[..., Awaitable[None]], platform: Any
) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples", REJOINDER_DESK__UNDO_S=str(UNDO_S))
    async with bot_beside(demo, platform.settings()):
        await demo.send([FLAG])
        card = await asyncio.wait_for(platform.card(platform.women), 90)
        draft = (await demo.get("/v1/cases/birdsong/d1"))["drafts"][-1]["text"]
        pressed = time.monotonic()
        await platform.person("ana").press(card, "Approve")
        await platform.world.until(lambda: "Undo" in labels(card), 2)

        async def approved() -> bool:
            case = await demo.get("/v1/cases/birdsong/d1")
            return case["state"] in ("approved", "released")

        await wait_until(approved, 2)
        assert time.monotonic() - pressed < 3
        await platform.world.until(lambda: "the reply has left" in field(card, "Standing"), 30)
        assert labels(card) == ["Evidence"]
        assert [(reply["case_key"], reply["text"]) for reply in await demo.replies()] == [("birdsong/d1", draft)]


async def test_a_decision_in_the_browser_reaches_the_card_within_two_seconds(
    start_demo: Callable[..., Awaitable[Any]], platform: Any
) -> None:
    demo = await start_demo("--chat-model", "none", "--no-samples", REJOINDER_DESK__UNDO_S=str(UNDO_S))
    async with bot_beside(demo, platform.settings()):
        await demo.send([FLAG])
        card = await asyncio.wait_for(platform.card(platform.women), 90)
        version = (await demo.get("/v1/cases/birdsong/d1"))["version"]
        status, _ = await demo.decide("birdsong/d1", action="reject", version=version, reason="tone")
        assert status == 200
        await platform.world.until(lambda: "Approve" not in labels(card), 2)
        told = await platform.person("ben").told(await platform.person("ben").press(card, "Undo"))
        assert "only moderator or a lead may undo it" in told["content"]
