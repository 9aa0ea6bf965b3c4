"""What every board of cards does, on Discord and on Slack: one suite over both."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import discord as discord_py
import pytest

from bot.changes import Changes
from bot.chat.card_board import CardBoard
from bot.chat.cards import Card, EvidenceLine, build_card
from bot.chat.escalations import Escalations
from bot.chat.languages import Languages
from bot.discord.board import DiscordBoard
from bot.slack.board import SlackBoard
from bot.slack.workspaces import Workspaces
from core.domain import Route, now
from core.errors import CardGone, CardRefused, ChannelLost
from core.settings import CareSettings, ChatWorkspace
from tests.bot.conftest import House
from tests.bot.discord import conftest as discord
from tests.bot.samples import CRC, HEARSAY, add_answered, add_pending, post, triage_of
from tests.bot.slack import conftest as slack
from tests.bot.slack.server import BOT_TOKEN, TEAM

platform, slack_fixture = discord.platform, slack.slack
NUMBER = 12


@dataclass
class Stage:
    """A board with one channel, and what a person at the platform sees and does there."""

    board: CardBoard
    server: str
    channel: str
    messages: Callable[[], dict[str, str]]
    delete: Callable[[str], object]
    delete_channel: Callable[[], object]
    excuse: Callable[[], object] = lambda: None
    """Tell the platform that it was sent something wrong on purpose."""


async def on_discord(platform: Any) -> AsyncIterator[Stage]:
    world, channel = platform.world, platform.general
    async with discord_py.Client(intents=discord_py.Intents.none()) as client:
        await client.login(discord.TOKEN)
        yield Stage(
            DiscordBoard(client), platform.guild.id, channel.id,
            messages=lambda: {message["id"]: json.dumps(message) for message in world.in_channel(channel)},
            delete=world.messages.pop, delete_channel=lambda: world.channels.pop(channel.id),
            excuse=world.complaints.clear,
        )  # fmt: skip


async def on_slack(server: Any) -> AsyncIterator[Stage]:
    workspaces = Workspaces({TEAM: slack.SERVER}, {TEAM: BOT_TOKEN}, server.base_url)
    channel = server.at.channels[slack.CHANNEL]
    yield Stage(
        SlackBoard(workspaces.clients), TEAM, slack.CHANNEL,
        messages=lambda: {ts: json.dumps(message) for ts, message in channel.messages.items()},
        delete=channel.messages.pop, delete_channel=lambda: setattr(channel, "deleted", True),
    )  # fmt: skip


@pytest.fixture(params=["discord", "slack"])
async def stage(request: pytest.FixtureRequest, platform: Any, slack_fixture: Any) -> AsyncIterator[Stage]:
    stages = on_discord(platform) if request.param == "discord" else on_slack(slack_fixture)
    async for stage in stages:
        yield stage


@pytest.fixture
async def card(house: House) -> Card:
    return build_card(await house.desk.case(await add_pending(house.ledger, post(1))))


def since() -> datetime:
    return now() - timedelta(minutes=1)


async def test_a_posted_card_is_shown_and_found(stage: Stage, card: Card) -> None:
    message = await stage.board.post(stage.server, stage.channel, card, NUMBER)
    assert card.standing in stage.messages()[message]
    assert await stage.board.find(stage.server, stage.channel, NUMBER, since()) == message
    assert await stage.board.find(stage.server, stage.channel, NUMBER + 1, since()) is None


async def test_a_card_names_first_the_fact_that_its_draft_states_and_why(stage: Stage, house: House) -> None:
    card = build_card(await house.desk.case(await add_answered(house.ledger, post(1))))
    message = await stage.board.post(stage.server, stage.channel, card, NUMBER)
    shown = stage.messages()[message]
    assert "Migrants take work away from locals." in shown
    why = shown.index("the draft says this: on file against the claim")
    assert why < shown.index(HEARSAY.source.title) < shown.index(CRC.source.title)
    assert shown.count("the draft says this") == 1


@pytest.mark.parametrize("letters", ["a", "*a"])
async def test_the_longest_card_is_accepted(stage: Stage, card: Card, letters: str) -> None:
    def of(length: int) -> str:
        return (letters * length)[:length]

    line = EvidenceLine(of(1_400), of(120), of(200), f"https://docs.un.org/{'x' * 85}", "the draft says this: chosen")
    longest = dataclasses.replace(
        card, title=of(120), post=of(1_200), draft=of(1_000), drafted=of(200), answers=of(200), warnings=(of(200),) * 5,
        evidence=(line,) * 5, close_checks=(of(200),) * 3, notes=(of(200),) * 3, standing=of(400),
    )  # fmt: skip
    message = await stage.board.post(stage.server, stage.channel, longest, NUMBER)
    assert stage.messages()[message].count("the draft says this") >= 2


async def test_an_updated_card_is_shown_in_place_of_the_old_one(stage: Stage, card: Card) -> None:
    message = await stage.board.post(stage.server, stage.channel, card, NUMBER)
    later = dataclasses.replace(card, standing="ben holds it.")
    await stage.board.update(stage.server, stage.channel, message, later, NUMBER)
    assert list(stage.messages()) == [message]
    assert "ben holds it." in stage.messages()[message]


async def test_a_deleted_card_is_gone(stage: Stage, card: Card) -> None:
    message = await stage.board.post(stage.server, stage.channel, card, NUMBER)
    stage.delete(message)
    with pytest.raises(CardGone):
        await stage.board.update(stage.server, stage.channel, message, card, NUMBER)
    assert await stage.board.find(stage.server, stage.channel, NUMBER, since()) is None


async def test_a_card_that_breaks_the_platforms_rules_is_refused_alone(stage: Stage, card: Card) -> None:
    message = await stage.board.post(stage.server, stage.channel, card, NUMBER)
    without_groups = dataclasses.replace(card, groups="")
    label = dataclasses.replace(card.buttons[0], label="Approve " * 11)
    for broken in (without_groups, dataclasses.replace(card, buttons=(label,))):
        with pytest.raises(CardRefused):
            await stage.board.update(stage.server, stage.channel, message, broken, NUMBER)
        with pytest.raises(CardRefused):
            await stage.board.post(stage.server, stage.channel, broken, NUMBER + 1)
    stage.excuse()
    await stage.board.update(stage.server, stage.channel, message, card, NUMBER)


async def test_a_deleted_channel_is_lost(stage: Stage, card: Card) -> None:
    message = await stage.board.post(stage.server, stage.channel, card, NUMBER)
    stage.delete_channel()
    for call in (
        stage.board.post(stage.server, stage.channel, card, NUMBER + 1),
        stage.board.update(stage.server, stage.channel, message, card, NUMBER),
        stage.board.find(stage.server, stage.channel, NUMBER, since()),
        stage.board.announce(stage.server, stage.channel, "Two posts wait.", None),
    ):
        with pytest.raises(ChannelLost) as lost:
            await call
        assert lost.value.gone


async def test_a_notice_is_changed_in_place_and_posted_anew_once_deleted(stage: Stage) -> None:
    announce = stage.board.announce
    first = await announce(stage.server, stage.channel, "Two posts wait.", None)
    assert await announce(stage.server, stage.channel, "Three posts wait.", first) == first
    assert "Three posts wait." in stage.messages()[first]
    stage.delete(first)
    second = await announce(stage.server, stage.channel, "Four posts wait.", first)
    assert list(stage.messages()) == [second]


def shows(stage: Stage, words: str) -> bool:
    return any(words in message for message in stage.messages().values())


async def test_escalations_are_told_as_they_happen_in_one_notice_without_the_posts(stage: Stage, house: House) -> None:
    servers = {stage.server: ChatWorkspace(channel=stage.channel, lead_channel=stage.channel)}
    changes = Changes(house.ledger.history, every_s=0.05)
    languages = Languages(stage.board.surface, servers, house.ledger.moderator_settings)
    telling = Escalations(house.ledger, stage.board, servers, CareSettings(), changes, languages, every_s=60)
    jobs = [asyncio.create_task(job) for job in (changes.run(), telling.run())]
    for number, words in ((1, "1 post was escalated"), (2, "2 posts were escalated")):
        flagged = post(number, "<!channel> @everyone Zorblaxians should fear us.")
        await house.ledger.stages.triage(flagged, triage_of(route=Route.ESCALATE))
        await slack.until(functools.partial(shows, stage, words))
    for job in jobs:
        job.cancel()
    await asyncio.gather(*jobs, return_exceptions=True)
    (notice,) = stage.messages().values()
    assert "Zorblaxians" not in notice and "@" not in notice
