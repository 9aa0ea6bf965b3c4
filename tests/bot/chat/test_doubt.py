"""Cases in doubt, on Discord and on Slack: one suite over both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import pytest

from core.domain import CaseState
from tests.bot.conftest import House
from tests.bot.discord import conftest as discord
from tests.bot.discord.look import labels
from tests.bot.samples import DRAFT, add_doubtful, add_draft, add_pending, post
from tests.bot.slack import conftest as slack
from tests.bot.slack.block_kit import elements

platform, start, slack_fixture = discord.platform, discord.start, slack.slack
WEATHER = "The weather is lovely today."


class Chat(Protocol):
    """A chat in which ana types commands and presses what only she sees."""

    async def type(self, command: str) -> str:
        """Type a command and return what its answer shows."""

    async def press(self, label: str) -> None:
        """Press a button of the newest answer."""

    def labels(self) -> list[str]:
        """Return the buttons of the newest answer."""

    def cards(self) -> int:
        """Count the cards that everybody sees."""


@dataclass
class OnDiscord:
    platform: Any
    answer: Any = None

    async def type(self, command: str) -> str:
        ana = self.platform.person("ana")
        name, _, rest = command.partition(" ")
        options: dict[str, Any] = {"doubtful": True} if name == "queue" and rest else {"case": rest} if rest else {}
        self.answer = await ana.told(await ana.command(self.platform.general.id, f"rejoinder {name}", **options))
        return str(self.answer)

    async def press(self, label: str) -> None:
        await self.platform.person("ana").press(self.answer, label)

    def labels(self) -> list[str]:
        return list(labels(self.answer))

    def cards(self) -> int:
        return len([item for item in self.platform.world.in_channel(self.platform.general) if item["embeds"]])


@dataclass
class OnSlack:
    floor: slack.Floor
    ts: str = "9999999999.000001"
    messages: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.messages = self.floor.slack.at.channels[slack.CHANNEL].messages

    async def type(self, command: str) -> str:
        self.floor.ephemerals().clear()
        self.messages.pop(self.ts, None)
        await self.floor.slack.people.command(slack.ANA, slack.CHANNEL, command)
        await slack.until(lambda: bool(self.floor.ephemerals()))
        self.messages[self.ts] = self.floor.ephemerals()[0] | {"ts": self.ts}
        return slack.seen(self.messages[self.ts])

    async def press(self, label: str) -> None:
        action = next(item for item in self._buttons() if item["text"]["text"] == label)["action_id"]
        await self.floor.slack.people.press(slack.ANA, slack.CHANNEL, self.ts, action, private=True)

    def labels(self) -> list[str]:
        return [item["text"]["text"] for item in self._buttons()]

    def cards(self) -> int:
        return len(self.floor.cards())

    def _buttons(self) -> list[Any]:
        return list(elements(self.messages[self.ts]["blocks"]))


@pytest.fixture(params=["discord", "slack"])
async def chat(
    request: pytest.FixtureRequest, house: House, platform: Any, start: Any, slack_fixture: Any
) -> AsyncIterator[Chat]:
    if request.param == "discord":
        await start()
        yield OnDiscord(platform)
        return
    floor = slack.Floor(slack_fixture, house)
    async with floor.working():
        yield OnSlack(floor)
    assert slack.slack_is_content(slack_fixture)


async def test_cases_in_doubt_have_a_list_of_their_own_and_no_card(house: House, chat: Chat) -> None:
    await add_doubtful(house.ledger, post(1, WEATHER))
    assert "In doubt, hateful or not: 1." in await chat.type("queue")
    await add_pending(house.ledger, post(2))
    await slack.until(lambda: chat.cards() == 1)
    queue = await chat.type("queue")
    assert "migrants 93 %" in queue and "hate probability" not in queue
    doubtful = await chat.type("queue doubtful")
    assert "in doubt, hate probability 12 %" in doubtful and "migrants" not in doubtful
    assert WEATHER not in queue + doubtful
    assert chat.cards() == 1


async def test_one_press_dismisses_a_case_in_doubt_and_another_takes_it_back(house: House, chat: Chat) -> None:
    key = await add_doubtful(house.ledger, post(1, WEATHER))
    number = await house.ledger.cards.number_of(key)
    assert "Is this hateful at all?" in await chat.type(f"case {number}")
    await chat.press("Not hateful")
    await slack.until(lambda: "Undo" in chat.labels())
    assert (await house.desk.case(key)).state is CaseState.DISMISSED
    await chat.press("Undo")
    await slack.until(lambda: "Not hateful" in chat.labels())
    assert (await house.desk.case(key)).doubtful


async def test_one_press_asks_for_a_draft_which_gets_a_card(house: House, chat: Chat) -> None:
    key = await add_doubtful(house.ledger, post(1, WEATHER))
    await chat.type(f"case {await house.ledger.cards.number_of(key)}")
    await chat.press("Write a draft")
    await slack.until(lambda: "Write a draft" not in chat.labels())
    case = await house.desk.case(key)
    assert (case.state, case.request.number) == (CaseState.GROUNDED, 2)
    await add_draft(house.ledger, key, 2, DRAFT)
    await slack.until(lambda: chat.cards() == 1)


async def test_any_pending_case_is_dismissed_by_command(house: House, chat: Chat) -> None:
    key = await add_pending(house.ledger, post(1))
    number = await house.ledger.cards.number_of(key)
    assert f"Case {number} is dismissed." in await chat.type(f"dismiss {number}")
    case = await house.desk.case(key)
    assert (case.state, case.decided_why) == (CaseState.DISMISSED, "not_hateful")
    await chat.press("Undo")
    await slack.until(lambda: "Not hateful" in chat.labels())
    assert "no case number 99" in await chat.type("dismiss 99")
