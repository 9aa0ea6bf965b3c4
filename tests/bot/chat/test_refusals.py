"""What somebody is offered whose press is refused, on Discord and on Slack: one suite over both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from core.domain import CaseState, Check
from tests.bot.conftest import House
from tests.bot.discord import conftest as discord
from tests.bot.discord.look import labels
from tests.bot.samples import add_pending, post
from tests.bot.slack import conftest as slack
from tests.bot.slack.block_kit import elements

platform, start, slack_fixture = discord.platform, discord.start, slack.slack
FAILING = "A forbidden word. And more."
CHECKS = (Check(name="insult", passed=False, value=1, threshold=0, detail="a word"),)
USERS = {"ana": slack.ANA, "ben": slack.BEN, "lea": slack.LEA}


@dataclass(frozen=True)
class Answer:
    """What only the one who pressed is told, with the labels of its buttons."""

    text: str
    labels: list[str]
    message: Any


class Chat(Protocol):
    """A chat in which the only card is pressed."""

    async def press(self, who: str, label: str) -> Answer:
        """Press a button of the card that is refused."""

    async def press_only(self, who: str, label: str) -> None:
        """Press a button of the card that is not refused."""

    async def form(self, who: str, answer: Answer, label: str) -> str:
        """Press a button of an answer and return the text in the form that it opens."""

    async def override(self, who: str, answer: Answer, label: str) -> None:
        """Press a button of an answer that opens nothing."""


@dataclass
class OnDiscord:
    platform: Any

    async def press(self, who: str, label: str) -> Answer:
        person = self.platform.person(who)
        message = await person.told(await person.press(await self._card(label), label))
        return Answer(message["content"].replace("\\", ""), labels(message), message)

    async def press_only(self, who: str, label: str) -> None:
        await self.platform.person(who).press(await self._card(label), label)

    async def form(self, who: str, answer: Answer, label: str) -> str:
        opened = await self.platform.person(who).press(answer.message, label)
        return str(opened.modal["components"][0]["component"].get("value"))

    async def override(self, who: str, answer: Answer, label: str) -> None:
        await self.platform.person(who).press(answer.message, label)

    async def _card(self, label: str) -> Any:
        card = await self.platform.card()
        await self.platform.world.until(lambda: label in labels(card))
        return card


@dataclass
class OnSlack:
    floor: slack.Floor

    async def press(self, who: str, label: str) -> Answer:
        self.floor.ephemerals().clear()
        await self.press_only(who, label)
        await slack.until(lambda: bool(self.floor.ephemerals()))
        message = self.floor.ephemerals()[0]
        assert message["user"] == USERS[who]
        buttons = [element["text"]["text"] for element in elements(message["blocks"])]
        return Answer(slack.seen(message), buttons, message)

    async def press_only(self, who: str, label: str) -> None:
        await self.floor.card()
        await slack.until(lambda: label.lower() in slack.buttons(self.floor.cards()[0]))
        await self.floor.press(label.lower(), USERS[who])

    async def form(self, who: str, answer: Answer, label: str) -> str:
        await self.override(who, answer, label)
        view = await self.floor.modal("edit")
        return str(elements(view.content)[0]["initial_value"])

    async def override(self, who: str, answer: Answer, label: str) -> None:
        ts = "9999999999.000001"
        self.floor.slack.at.channels[slack.CHANNEL].messages[ts] = answer.message | {"ts": ts}
        action = next(item for item in elements(answer.message["blocks"]) if item["text"]["text"] == label)
        await self.floor.slack.people.press(USERS[who], slack.CHANNEL, ts, action["action_id"])


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


async def test_a_draft_that_fails_its_checks_is_told_with_them_and_can_be_edited(house: House, chat: Chat) -> None:
    key = await add_pending(house.ledger, post(1), FAILING, checks=CHECKS)
    answer = await chat.press("ana", "Approve")
    assert "fails: insults nobody (a word; 1 of 0)" in answer.text
    assert answer.labels == ["Edit again"]
    assert await chat.form("ana", answer, "Edit again") == FAILING
    assert (await house.desk.case(key)).state is CaseState.PENDING


async def test_a_lead_may_also_post_a_draft_that_fails_its_checks(house: House, chat: Chat) -> None:
    key = await add_pending(house.ledger, post(1), FAILING, checks=CHECKS)
    answer = await chat.press("lea", "Approve")
    assert answer.labels == ["Edit again", "Post anyway"]
    await chat.override("lea", answer, "Post anyway")
    await slack.until_true(lambda: approved(house, key))


async def test_anothers_claim_can_be_overridden_by_a_lead_and_there_is_no_form(house: House, chat: Chat) -> None:
    await add_pending(house.ledger, post(1))
    await chat.press_only("ben", "Claim")
    answer = await chat.press("lea", "Release")
    assert answer.labels == ["Do it anyway"]


async def approved(house: House, key: str) -> bool:
    case = await house.desk.case(key)
    return case.state is CaseState.APPROVED and case.final_text == FAILING
