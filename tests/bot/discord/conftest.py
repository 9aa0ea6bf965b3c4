from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
import yarl
from aiohttp.test_utils import TestServer
from discord.gateway import DiscordWebSocket
from discord.http import Route
from pydantic import SecretStr

from bot.changes import Changes
from bot.discord.client import DeskClient
from bot.discord.connection import stay_connected
from core.domain import TargetGroup
from core.retry import Backoff
from core.settings import CareSettings, ChannelRule, ChatWorkspace, DiscordSettings
from tests.bot.discord.gateway import Gateway
from tests.bot.discord.people import Person
from tests.bot.discord.rest import Rest
from tests.bot.discord.world import PATIENCE_S, Channel, Guild, World

TOKEN = "a-token.of-the.bot"


@dataclass
class Platform:
    """A fake Discord with one server: a channel for all cases, one for cases against women, and four people."""

    world: World
    gateway: Gateway
    guild: Guild
    general: Channel
    women: Channel

    def person(self, name: str) -> Person:
        return Person(self.world, self.gateway, self.guild, self.guild.members[name])

    def settings(self, others: dict[str, ChatWorkspace] | None = None, **more: Any) -> DiscordSettings:
        server = ChatWorkspace(
            channel=self.general.id,
            rules=(ChannelRule(channel=self.women.id, groups=(TargetGroup.WOMEN,)),),
            leads=(self.guild.roles["lead"],),
            admins=(self.guild.roles["admin"],),
            **{"reviewers": (self.guild.id,), **more},
        )
        return DiscordSettings(token=SecretStr(TOKEN), servers={self.guild.id: server, **(others or {})})

    async def card(self, channel: Channel | None = None, index: int = -1) -> dict[str, Any]:
        """Return a card posted in a channel; waits up to a minute for it."""
        where = channel or self.general
        cards: list[dict[str, Any]] = await self.world.until(
            lambda: [item for item in self.world.in_channel(where) if item["embeds"]], 60
        )
        return cards[index]


@pytest.fixture
async def platform(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Platform]:
    world = World(TOKEN)
    world.ack_s = PATIENCE_S
    gateway = Gateway(world)
    app = Rest(world).app()
    app.router.add_get("/gateway/", gateway.handle)
    guild = world.add_guild(
        "Zorblax Watch", {"lead": "", "admin": "", "reviewer": ""},
        [("ana", ["reviewer"]), ("ben", []), ("lea", ["lead"]), ("ada", ["admin"])],
    )  # fmt: skip
    async with TestServer(app) as server:
        base = server.make_url("/")
        gateway.url = str(base.with_scheme("ws") / "gateway/")
        monkeypatch.setattr(Route, "BASE", str(base / "api/v10"))
        monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(gateway.url))
        yield Platform(world, gateway, guild, world.add_channel(guild, "general"), world.add_channel(guild, "women"))
    assert world.complaints == []
    assert world.pings == []


@dataclass
class Start:
    """A starter of the bot; it first stops the bot that runs."""

    house: Any
    platform: Platform
    running: list[tuple[asyncio.Event, asyncio.Task[None]]] = field(default_factory=list)

    async def __call__(
        self, *, ready: bool = True, care: CareSettings | None = None, pipeline_cli: Any = None, **more: Any
    ) -> DeskClient:
        await self.stop()
        house, settings = self.house, self.platform.settings(**more)
        clients: list[DeskClient] = []

        def make() -> DeskClient:
            changes = Changes(house.ledger.history, every_s=0.05)
            clients.append(
                DeskClient(
                    house.ledger,
                    house.desk,
                    settings,
                    care or CareSettings(),
                    changes=changes,
                    pipeline_cli=pipeline_cli,
                )
            )
            return clients[-1]

        event = asyncio.Event()
        task = asyncio.create_task(stay_connected(make, TOKEN, event, Backoff(0.05, 60.0)))
        self.running.append((event, task))
        if ready:
            await asyncio.wait_for(self.platform.gateway.ready.wait(), PATIENCE_S)
        await asyncio.sleep(0)
        return clients[-1]

    async def stop(self) -> None:
        for event, task in self.running:
            event.set()
            with suppress(asyncio.CancelledError):
                await task
        self.running.clear()


@pytest.fixture
async def start(house: Any, platform: Platform) -> AsyncIterator[Start]:
    starter = Start(house, platform)
    yield starter
    await starter.stop()
