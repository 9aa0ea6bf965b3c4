"""From a flag to the platform's reply through Discord, with the real broker, worker and ledger."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.desk import Desk
from bot.discord.client import DeskClient
from bot.discord.connection import stay_connected
from core.settings import CareSettings, DeskSettings, DiscordSettings, Settings
from ledger import Ledger
from rejoinder.guard_assembly import open_guard
from tests.bot.discord import conftest
from tests.bot.discord.look import field, labels

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

platform = conftest.platform
UNDO_S = 8.0  # long enough for a busy machine to show the button
DEMO_FLAGS = ("--chat-model", "none", "--no-samples")
DEMO_ENV = {"REJOINDER_DESK__UNDO_S": str(UNDO_S)}
SOON = pytest.mark.parametrize("soon_s", [60, pytest.param(2, marks=pytest.mark.slow)])
"""How soon every surface shows a decision: within two seconds where nothing else runs, as in `make test-slow`."""


def flag(post_id: str) -> dict[str, str]:
    text = "Women have no business in parliament, they should leave decisions to the men."
    return {"platform": "birdsong", "post_id": post_id, "text": text, "language": "en"}


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


@SOON
async def test_a_flag_is_answered_through_discord_and_every_surface_shows_it(
    demo: Any, wait_until: Callable[..., Awaitable[None]], platform: Any, soon_s: int
) -> None:
    async with bot_beside(demo, platform.settings()):
        key = f"birdsong/answered-{soon_s}"
        await demo.send([flag(f"answered-{soon_s}")])
        card = await asyncio.wait_for(platform.card(platform.women), 240)
        draft = (await demo.get(f"/v1/cases/{key}"))["drafts"][-1]["text"]
        async with asyncio.timeout(soon_s):
            await platform.person("ana").press(card, "Approve")
            await platform.world.until(lambda: "Undo" in labels(card), soon_s)

            async def approved() -> bool:
                history = (await demo.get(f"/v1/cases/{key}"))["history"]
                return "approved" in [change["to_state"] for change in history]

            await wait_until(approved, soon_s)
        await platform.world.until(lambda: "the reply has left" in field(card, "Standing"), 120)
        assert labels(card) == ["Evidence"]
        assert [reply["text"] for reply in await demo.replies(key)] == [draft]


@SOON
async def test_a_decision_in_the_browser_reaches_the_card(demo: Any, platform: Any, soon_s: int) -> None:
    async with bot_beside(demo, platform.settings()):
        key = f"birdsong/rejected-{soon_s}"
        await demo.send([flag(f"rejected-{soon_s}")])
        card = await asyncio.wait_for(platform.card(platform.women), 240)
        version = (await demo.get(f"/v1/cases/{key}"))["version"]
        status, _ = await demo.decide(key, action="reject", version=version, reason="tone")
        assert status == 200
        await platform.world.until(lambda: "Approve" not in labels(card), soon_s)
        reply = await platform.person("ben").told(await platform.person("ben").press(card, "Undo"))
        assert "only moderator or a lead may undo it" in reply["content"]
