from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.pipeline_cli import PipelineCli
from bot.slack.bot import SlackBot
from bot.slack.socket_mode import SocketModeConnection
from bot.slack.workspaces import Workspaces
from core.settings import CareSettings, ChatWorkspace
from tests.bot.conftest import House
from tests.bot.slack.block_kit import elements, texts
from tests.bot.slack.people import Answer
from tests.bot.slack.server import APP_TOKEN, BOT_TOKEN, PATIENCE_S, SIGNING_SECRET, TEAM, Slack, slack_server

ANA, BEN, LEA, OUT = "U0ANA", "U0BEN", "U0LEA", "U0OUT"
CHANNEL = "C0DESK"
SERVER = ChatWorkspace(channel=CHANNEL, leads=(LEA,), reviewers=(ANA, BEN), people={ANA: "ana", BEN: "ben", LEA: "lea"})


@pytest.fixture
async def slack() -> AsyncIterator[Slack]:
    async with slack_server() as slack:
        slack.wait_up_to(PATIENCE_S)
        yield slack


@dataclass
class Floor:
    """A fake Slack and a bot that works in it."""

    slack: Slack
    house: House
    servers: dict[str, ChatWorkspace] = field(default_factory=lambda: {TEAM: SERVER})
    tokens: dict[str, str] = field(default_factory=lambda: {TEAM: BOT_TOKEN})
    care: CareSettings = field(default_factory=CareSettings)
    pipeline_cli: PipelineCli = field(default_factory=PipelineCli)
    bot: SlackBot = field(init=False)
    ping_s: float = 0.5
    """Seconds between pings, far fewer than the product's; without an answer to four the line counts as down."""

    def open(self) -> None:
        workspaces = Workspaces(self.servers, self.tokens, self.slack.base_url)
        self.bot = SlackBot(
            self.house.desk, self.house.ledger, self.house.changes, workspaces, self.care, self.pipeline_cli,
            signing_secret=SIGNING_SECRET, api_url=self.slack.base_url,
        )  # fmt: skip

    @asynccontextmanager
    async def working(self, *, cards: bool = True, socket: bool = True) -> AsyncIterator[None]:
        """Run the bot while the context lasts."""
        if not hasattr(self, "bot"):
            self.open()
        jobs = [self.house.changes.run(), self.bot.languages.run()]
        if cards:
            jobs.append(self.bot.card_sync.run())
        if socket:
            jobs.append(SocketModeConnection(APP_TOKEN, self.slack.base_url, ping_s=self.ping_s).run(self.bot.app))
        async with AsyncExitStack() as stack:
            for job in jobs:
                stack.push_async_callback(_stopped, asyncio.create_task(job))
            if socket:
                await asyncio.wait_for(self.slack.socket.connected.wait(), PATIENCE_S)
            yield

    def cards(self, channel: str = CHANNEL) -> list[dict[str, Any]]:
        """Return the cards in a channel."""
        return [message for message in self.slack.at.messages(channel) if "metadata" in message]

    async def card(self, says: str = "", channel: str = CHANNEL) -> dict[str, Any]:
        """Wait for the only card in a channel, and until it contains the text `says`."""
        await until(lambda: len(self.cards(channel)) == 1 and says in seen(self.cards(channel)[0]))
        return self.cards(channel)[0]

    async def press(self, action: str, user: str = ANA, channel: str = CHANNEL) -> Answer:
        """Press a button on the only card."""
        card = await self.card(channel=channel)
        return await self.slack.people.press(user, channel, card["ts"], f"card:{action}")

    async def modal(self, callback: str | None = None) -> Any:
        """Wait for an open modal and return it."""
        await until(lambda: bool(self.modals(callback)))
        return self.modals(callback)[-1]

    def modals(self, callback: str | None = None) -> list[Any]:
        """Return the open modals."""
        views = self.slack.at.views.values()
        return [view for view in views if view.open and view.content.get("callback_id") == callback]

    def ephemerals(self, channel: str = CHANNEL) -> list[dict[str, Any]]:
        """Return the messages that only one person sees."""
        return self.slack.at.channels[channel].ephemerals

    async def ephemeral(self, says: str, channel: str = CHANNEL) -> dict[str, Any]:
        """Wait for a message that only one person sees and that contains the text `says`."""
        await until(lambda: any(says in seen(item) for item in self.ephemerals(channel)))
        return next(item for item in self.ephemerals(channel) if says in seen(item))


def seen(message: dict[str, Any]) -> str:
    """Return all text that a message or modal shows."""
    return "\n".join([message.get("text", ""), *texts(message.get("blocks", []))])


def buttons(message: dict[str, Any]) -> list[str]:
    """Return the action ids of a message's buttons, without the prefix of cards."""
    return [element["action_id"].removeprefix("card:") for element in elements(message["blocks"])]


async def until(holds: Callable[[], bool], within_s: float = PATIENCE_S) -> None:
    """Wait until a condition holds, by polling, as the bot works independently of the test."""
    async with asyncio.timeout(within_s):
        while not holds():
            await asyncio.sleep(0.01)


async def until_true(holds: Callable[[], Awaitable[bool]], within_s: float = PATIENCE_S) -> None:
    """Wait until an asynchronous condition holds, by polling."""
    async with asyncio.timeout(within_s):
        while not await holds():
            await asyncio.sleep(0.01)


async def _stopped(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@pytest.fixture
async def floor(slack: Slack, house: House) -> Floor:
    return Floor(slack, house)


@pytest.fixture
async def working(floor: Floor) -> AsyncIterator[Floor]:
    async with floor.working():
        yield floor
    assert slack_is_content(floor.slack)


def slack_is_content(slack: Slack) -> bool:
    """Tell whether Slack has no complaints, such as late acks, unknown envelopes or refused calls."""
    return slack.socket.complaints == []
