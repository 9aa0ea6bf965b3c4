from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from unittest.mock import create_autospec

import pytest

from bot.chat import card_sync
from bot.chat.escalations import Escalations
from bot.discord.checkup import complaints
from core.domain import CaseState, TargetGroup, now
from core.errors import BadSettings
from tests.bot.discord.conftest import TOKEN
from tests.bot.discord.look import cards, field, labels
from tests.bot.discord.world import SEND
from tests.bot.samples import DRAFT, add_pending, post


async def test_after_a_restart_every_open_card_still_works(house: Any, platform: Any, start: Any) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    ana = platform.person("ana")
    form = await ana.press(card, "Edit")
    await start()
    await ana.fill_in(form, text="Written before the restart. Sent after it.")
    await platform.world.until(lambda: "Undo" in labels(card))
    assert (await house.ledger.cases.get(key)).final_text == "Written before the restart. Sent after it."
    await start()
    await ana.press(card, "Undo")
    await platform.world.until(lambda: "Approve" in labels(card))
    edit = await ana.press(card, "Edit")
    assert edit.modal["components"][0]["component"]["value"] == DRAFT


async def test_cards_missed_while_the_bot_was_down_appear_and_none_twice(house: Any, platform: Any, start: Any) -> None:
    await start()
    await add_pending(house.ledger, post(1))
    await platform.card()
    await start.stop()
    for number in (2, 3):
        await add_pending(house.ledger, post(number))
    await start()
    await platform.world.until(lambda: len(platform.world.in_channel(platform.general)) == 3)
    client = await start()
    await client.card_sync.sync_once()
    await client.card_sync.wait_until_idle()
    assert len(platform.world.in_channel(platform.general)) == 3


async def test_what_was_decided_while_the_bot_was_down_is_shown_afterwards(
    house: Any, platform: Any, start: Any
) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    await start.stop()
    case = await house.ledger.cases.get(key)
    await house.ledger.decisions.reject(key, case.version, "web", "tone", now() + timedelta(seconds=20))
    await start()
    await platform.world.until(lambda: labels(card) == ["Undo", "Evidence"])
    assert "web rejected it" in field(card, "Standing")


async def shown_until_closed(house: Any, platform: Any, number: int, window_s: int) -> list[list[str]]:
    """Reject a new case, and return the buttons that its card had until the window for undoing was closed."""
    key = await add_pending(house.ledger, post(number))
    case = await house.ledger.cases.get(key)
    await platform.world.until(lambda: len(platform.world.in_channel(platform.general)) == number)
    card = await platform.card()
    shown: list[list[str]] = []

    def closed() -> bool:
        shown.append(labels(card))
        return shown[-1] == ["Evidence"]

    await house.ledger.decisions.reject(key, case.version, "web", "tone", now() + timedelta(seconds=window_s))
    await platform.world.until(closed)
    return shown


async def test_the_undo_button_goes_when_the_window_closes(house: Any, platform: Any, start: Any) -> None:
    await start()
    shown = await shown_until_closed(house, platform, 1, window_s=1)
    if ["Undo", "Evidence"] not in shown:  # a bot so busy that the window was over gets a longer one
        shown = await shown_until_closed(house, platform, 2, window_s=20)
    assert ["Undo", "Evidence"] in shown


@pytest.mark.parametrize("posted", [True, False])
async def test_a_crash_between_posting_and_noting_it_leaves_exactly_one_card(
    house: Any, platform: Any, start: Any, monkeypatch: pytest.MonkeyPatch, posted: bool
) -> None:
    monkeypatch.setattr(card_sync, "ORPHAN_S", 0.0)
    key = await add_pending(house.ledger, post(1))
    if posted:
        await start()
        card = await platform.card()
        await platform.world.until(lambda: "Approve" in labels(card))
        await start.stop()
        await house.ledger.cards.forget("discord", platform.guild.id, key)
    await house.ledger.cards.reserve("discord", platform.guild.id, key, platform.general.id)
    client = await start()
    card = await platform.card()

    async def noted() -> bool:
        posted = await house.ledger.cards.find("discord", platform.guild.id, key)
        return posted is not None and posted.message == card["id"]

    while not await noted():
        await client.card_sync.sync_once()
        await client.card_sync.wait_until_idle()
    assert len(platform.world.in_channel(platform.general)) == 1


async def test_a_network_cut_is_resumed_and_nothing_pressed_meanwhile_is_lost(
    house: Any, platform: Any, start: Any
) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    await platform.gateway.cut()
    await platform.person("ana").press(card, "Approve")
    await platform.world.until(lambda: "Undo" in labels(card))
    assert platform.gateway.resumed == 1
    assert (await house.ledger.cases.get(key)).state is CaseState.APPROVED


async def test_discord_away_at_the_start_is_waited_for(house: Any, platform: Any, start: Any) -> None:
    platform.world.down = True
    await start(ready=False)
    await add_pending(house.ledger, post(1))
    await platform.world.until(lambda: platform.world.requests)
    platform.world.down = False
    await asyncio.wait_for(platform.gateway.ready.wait(), 60)
    assert await platform.card()


async def test_a_rate_limit_is_waited_out_and_holds_up_no_other_channel(house: Any, platform: Any, start: Any) -> None:
    await start()
    platform.world.hold_s["post"] = 0.7
    for number in range(12):
        await add_pending(house.ledger, post(number))
    await platform.world.until(lambda: len(cards(platform.world.in_channel(platform.general))) == 12, 20)
    assert platform.world.refused >= 1


async def test_a_deleted_channel_hands_its_cases_to_the_default_one(
    house: Any, platform: Any, start: Any, caplog: pytest.LogCaptureFixture
) -> None:
    await start()
    await add_pending(house.ledger, post(1), group=TargetGroup.WOMEN)
    await platform.card(platform.women)
    del platform.world.channels[platform.women.id]
    await add_pending(house.ledger, post(2), group=TargetGroup.WOMEN)
    card = await platform.card()
    assert field(card, "Against").startswith("women")
    log_lines = [record.getMessage() for record in caplog.records if record.name == "bot.chat.card_sync"]
    assert len([line for line in log_lines if "does not exist" in line]) == 1


async def test_a_lost_permission_is_told_once_and_given_back_it_is_used(
    house: Any, platform: Any, start: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_sync, "RETRY_LOST_S", 0.3)
    await start()
    platform.general.permissions &= ~SEND
    await add_pending(house.ledger, post(1))
    await platform.world.until(lambda: any("closed to the bot" in record.getMessage() for record in caplog.records))
    platform.general.permissions |= SEND
    assert await platform.card()
    assert len([1 for record in caplog.records if "closed to the bot" in record.getMessage()]) == 1


async def test_a_revoked_token_ends_the_bot_in_plain_words(house: Any, platform: Any, start: Any) -> None:
    await start()
    [(_, task)] = start.running
    await platform.gateway.revoke()
    with pytest.raises(BadSettings, match="refuses the bot's token"):
        await asyncio.wait_for(task, 60)
    start.running.clear()


async def test_a_background_job_that_fails_ends_the_bot_and_the_connection(
    start: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Else leads would no longer be told of threats, and nobody would notice."""
    fails = create_autospec(Escalations.tell_new, side_effect=ZeroDivisionError("a fault"))
    monkeypatch.setattr(Escalations, "tell_new", fails)
    client = await start(ready=False)
    [(_, task)] = start.running
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 60)
    assert task.cancelled() and client.is_closed()
    assert "A background job failed: ZeroDivisionError('a fault')" in caplog.text


async def test_a_deleted_card_of_an_open_case_is_posted_anew(house: Any, platform: Any, start: Any) -> None:
    client = await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    posted = await house.ledger.cards.find("discord", platform.guild.id, key)
    while posted.message is None:
        posted = await house.ledger.cards.find("discord", platform.guild.id, key)
    del platform.world.messages[card["id"]]
    case = await house.ledger.cases.get(key)
    await house.ledger.decisions.claim(key, case.version, "web", now() + timedelta(minutes=5))
    await client.card_sync.sync_once()
    again = await platform.card()
    assert again["id"] != card["id"]
    assert "web holds it" in field(again, "Standing")


async def test_the_checkup_names_each_thing_that_does_not_fit(platform: Any) -> None:
    assert await complaints(platform.settings(lead_channel=platform.general.id), TOKEN) == []
    (complaint,) = await complaints(platform.settings(), TOKEN)
    assert "names no channel for leads, so no notice of an escalation" in complaint
    platform.women.permissions &= ~SEND
    settings = platform.settings(lead_channel="123", reviewers=("456",))
    report = "\n".join(await complaints(settings, TOKEN))
    assert "lacks send messages" in report
    assert "Channel 123 does not exist" in report
    assert "No role or member 456" in report
    report = (await complaints(platform.settings(reviewers=()), TOKEN))[0]
    assert "names no reviewers, so nobody but its leads and admins may decide" in report
    assert "refuses the bot's token" in (await complaints(platform.settings(), "wrong"))[-1]


async def test_the_token_is_in_no_log(house: Any, platform: Any, start: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "bot")
    caplog.set_level("INFO", "discord")
    await start()
    await add_pending(house.ledger, post(1))
    await platform.person("ana").press(await platform.card(), "Approve")
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(platform.settings())
