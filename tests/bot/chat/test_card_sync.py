from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from bot.changes import Changes
from bot.chat.card_sync import CardSync
from bot.chat.cards import Card
from bot.chat.languages import Languages
from core.domain import Case, TargetGroup, now
from core.errors import CardRefused, ChatUnavailable
from core.settings import CareSettings, ChannelRule, ChatWorkspace
from ledger import Ledger
from ledger.moderator_settings import SwitchKind
from tests.bot.samples import CLAIM, add_answered, add_pending, post

SERVERS = {"s1": ChatWorkspace(channel="all", rules=(ChannelRule(channel="women", groups=(TargetGroup.WOMEN,)),))}


class Cork:
    """A board in memory; `trouble` may raise for a channel."""

    surface = "discord"

    def __init__(self) -> None:
        self.posted: dict[str, tuple[str, Card]] = {}
        self.trouble: Callable[[str, Card], None] = lambda channel, card: None
        self.slow: set[str] = set()

    async def post(self, server: str, channel: str, card: Card, number: int) -> str:
        while channel in self.slow:
            await asyncio.sleep(0.01)
        self.trouble(channel, card)
        message = f"m{len(self.posted)}"
        self.posted[message] = (channel, card)
        return message

    async def update(self, server: str, channel: str, message: str, card: Card, number: int) -> None:
        self.trouble(channel, card)
        self.posted[message] = (channel, card)

    async def find(self, server: str, channel: str, number: int, since: datetime) -> str | None:
        return None

    async def announce(self, server: str, channel: str, text: str, message: str | None) -> str:
        return message or "notice"


@pytest.fixture
def cork() -> Cork:
    return Cork()


@pytest.fixture
def card_sync(ledger: Ledger, cork: Cork) -> CardSync:
    return sync_of(ledger, cork)


def sync_of(ledger: Ledger, cork: Cork) -> CardSync:
    languages = Languages(cork.surface, SERVERS, ledger.moderator_settings)
    return CardSync(ledger, cork, SERVERS, CareSettings(), Changes(ledger.history), languages)


async def once(card_sync: CardSync) -> None:
    await card_sync.sync_once()
    await card_sync.wait_until_idle()


async def test_looking_again_changes_nothing(ledger: Ledger, card_sync: CardSync, cork: Cork) -> None:
    await add_pending(ledger, post(1))
    await once(card_sync)
    before = dict(cork.posted)
    await once(card_sync)
    assert cork.posted == before
    assert len(before) == 1


async def test_a_new_card_tells_what_its_draft_rests_on_as_a_later_one_does(
    ledger: Ledger, card_sync: CardSync, cork: Cork
) -> None:
    await add_answered(ledger, post(1))
    await once(card_sync)
    [(_, card)] = cork.posted.values()
    assert (card.answers, card.drafted) == (CLAIM.gist, "words on file by compose, informative")
    assert "No claim on file fits this post" not in str(card.warnings)


async def test_a_case_that_gets_no_card_is_read_again_only_when_it_has_changed(
    ledger: Ledger, card_sync: CardSync, cork: Cork, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await add_pending(ledger, post(1))
    await ledger.moderator_settings.switch("discord", "s1", SwitchKind.PAUSED, "all", "ana", on=True)
    read: list[str] = []
    named = ledger.cases.named

    async def recorded(keys: Sequence[str]) -> list[Case]:
        read.extend(keys)
        return await named(keys)

    monkeypatch.setattr(ledger.cases, "named", recorded)
    for _ in range(3):
        await once(card_sync)
    assert read == [key]
    case = await ledger.cases.get(key)
    await ledger.decisions.claim(key, case.version, "ana", now() + timedelta(minutes=1))
    await once(card_sync)
    assert read == [key, key]
    assert cork.posted == {}


async def test_two_bots_at_once_post_one_card(ledger: Ledger, card_sync: CardSync, cork: Cork) -> None:
    await add_pending(ledger, post(1))
    other = sync_of(ledger, cork)
    await asyncio.gather(once(card_sync), once(other))
    assert len(cork.posted) == 1


async def test_a_slow_channel_holds_up_no_other(ledger: Ledger, card_sync: CardSync, cork: Cork) -> None:
    cork.slow.add("all")
    await add_pending(ledger, post(1))
    await card_sync.sync_once()
    await add_pending(ledger, post(2), group=TargetGroup.WOMEN)
    await card_sync.sync_once()
    async with asyncio.timeout(60):
        while not cork.posted:
            await asyncio.sleep(0.01)
    assert [channel for channel, _ in cork.posted.values()] == ["women"]
    cork.slow.clear()
    await card_sync.wait_until_idle()
    assert len(cork.posted) == 2


async def test_a_card_the_platform_refuses_holds_up_no_other(
    ledger: Ledger, card_sync: CardSync, cork: Cork, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: str, card: Card) -> None:
        if "post-1" in card.case_key:
            raise CardRefused("too long")

    cork.trouble = refuse
    for number in (1, 2):
        await add_pending(ledger, post(number))
    await once(card_sync)
    await once(card_sync)
    assert [card.case_key for _, card in cork.posted.values()] == ["forum/post-2"]
    assert caplog.text.count("gets no card: too long") == 1


async def test_while_the_platform_is_away_nothing_is_lost(ledger: Ledger, card_sync: CardSync, cork: Cork) -> None:
    await add_pending(ledger, post(1))
    await once(card_sync)

    def away(channel: str, card: Card) -> None:
        raise ChatUnavailable("away")

    cork.trouble = away
    key = "forum/post-1"
    case = await ledger.cases.get(key)
    await ledger.decisions.claim(key, case.version, "ana", now() + timedelta(minutes=1))
    await once(card_sync)
    cork.trouble = lambda channel, card: None
    await once(card_sync)
    assert [card.standing for _, card in cork.posted.values()] == ["ana holds it."]


async def test_a_fault_in_one_card_is_logged_and_tried_again(
    ledger: Ledger, card_sync: CardSync, cork: Cork, caplog: pytest.LogCaptureFixture
) -> None:
    faults: list[Any] = [ZeroDivisionError("a fault")]

    def fail_once(channel: str, card: Card) -> None:
        if faults:
            raise faults.pop()

    await add_pending(ledger, post(1))
    await once(card_sync)
    cork.trouble = fail_once
    case = await ledger.cases.get("forum/post-1")
    await ledger.decisions.claim(case.key, case.version, "ana", now() + timedelta(minutes=1))
    await once(card_sync)
    assert "could not be kept" in caplog.text
    await once(card_sync)
    assert [card.standing for _, card in cork.posted.values()] == ["ana holds it."]


async def test_the_card_of_an_erased_case_is_blanked(ledger: Ledger, card_sync: CardSync, cork: Cork) -> None:
    key = await add_pending(ledger, post(1))
    await once(card_sync)
    case = await ledger.cases.get(key)
    await ledger.decisions.reject(key, case.version, "ana", "Zorblaxians again", now())
    await once(card_sync)
    assert "Zorblaxians" in str(cork.posted["m0"])
    await ledger.erasure.erase(key, "operator", "erased on request")
    await once(card_sync)
    [(_, card)] = cork.posted.values()
    assert "Zorblaxians" not in str(card)
    assert (card.post, card.draft, card.evidence, card.final_text) == ("[erased]", "", (), None)
    assert await ledger.cards.outdated("discord", ["s1"]) == []
