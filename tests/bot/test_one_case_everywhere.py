"""The same case open in Discord, in Slack and in the browser: one decision, and all show it soon."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from bot.changes import Changes
from core.domain import CaseState
from tests.bot.discord import conftest as discord
from tests.bot.discord.look import labels
from tests.bot.samples import add_pending, post
from tests.bot.slack import conftest as slack

platform, start, slack_fixture = discord.platform, discord.start, slack.slack
Bearer = Callable[[str], dict[str, str]]


@pytest.fixture
async def floor(house: Any, slack_fixture: Any) -> AsyncIterator[slack.Floor]:
    own = dataclasses.replace(house, changes=Changes(house.ledger.history, every_s=0.05))
    floor = slack.Floor(slack_fixture, own)
    async with floor.working():
        yield floor


class Tab:
    """A browser's tab that follows the event stream of the web desk."""

    def __init__(self, client: Any, headers: dict[str, str]) -> None:
        self._client = client
        self._headers = headers
        self.states: list[str] = []
        self.open = asyncio.Event()

    async def follow(self) -> None:
        async with self._client.get("/v1/events", headers=self._headers) as response:
            assert response.status == 200
            self.open.set()
            async for line in response.content:
                if line.startswith(b"data:") and b"to_state" in line:
                    self.states.append(json.loads(line[5:])["to_state"])


@pytest.mark.parametrize("soon_s", [60, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("where", ["discord", "slack", "web"])
async def test_one_decision_is_seen_everywhere(
    house: Any, platform: Any, start: Any, floor: slack.Floor, client: Any, bearer: Bearer, where: str, soon_s: int
) -> None:
    await start()
    tab = Tab(client, bearer("ben"))
    following = asyncio.create_task(tab.follow())
    await asyncio.wait_for(tab.open.wait(), 60)
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    await floor.card()
    version = (await house.ledger.cases.get(key)).version

    match where:
        case "discord":
            await platform.person("ana").press(card, "Approve")
        case "slack":
            await floor.press("approve")
        case _:
            decision = {"action": "approve", "version": version}
            async with client.post(f"/v1/cases/{key}/decision", json=decision, headers=bearer("ana")) as response:
                assert response.status == 200

    async with asyncio.timeout(soon_s):
        await platform.world.until(lambda: labels(card) == ["Undo", "Evidence"], soon_s)
        await slack.until(lambda: "undo" in slack.buttons(floor.cards()[0]), soon_s)
        await slack.until(lambda: "approved" in tab.states, soon_s)
    following.cancel()
    assert (await house.ledger.cases.get(key)).state is CaseState.APPROVED


async def test_of_three_who_decide_at_once_one_wins_and_all_see_the_same(
    house: Any, platform: Any, start: Any, floor: slack.Floor, client: Any, bearer: Bearer
) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    await floor.card()
    version = (await house.ledger.cases.get(key)).version

    async def in_the_browser() -> int:
        decision = {"action": "approve", "version": version}
        async with client.post(f"/v1/cases/{key}/decision", json=decision, headers=bearer("ben")) as response:
            return int(response.status)

    _, _, status = await asyncio.gather(
        platform.person("ana").press(card, "Approve"), floor.press("approve"), in_the_browser()
    )
    await platform.world.until(lambda: "Undo" in labels(card))
    await slack.until(lambda: "undo" in slack.buttons(floor.cards()[0]))
    history = await house.ledger.history.of(key)
    assert [item.to_state for item in history].count(CaseState.APPROVED) == 1
    who = (await house.ledger.cases.get(key)).decided_by
    assert status == (200 if who == "ben" else 409)
    assert who in str(card)
    assert who in slack.seen(floor.cards()[0])
