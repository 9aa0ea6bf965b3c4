from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from core.domain import CaseState, Intent, TargetGroup
from core.errors import CaseNotFound
from ledger import Ledger
from ledger.cards import Notice
from ledger.moderator_settings import ScopeKind, SwitchKind

HERE = ("discord", "s1")


async def test_a_number_is_given_out_once_even_to_many_at_once(ledger: Ledger) -> None:
    numbers = await asyncio.gather(*(ledger.cards.number_of("forum/1") for _ in range(8)))
    other = await ledger.cards.number_of("forum/2")
    assert len(set(numbers)) == 1
    assert other != numbers[0]
    assert await ledger.cards.key_of(other) == "forum/2"
    for wrong in (0, 999, -1, 2**80):
        with pytest.raises(CaseNotFound, match="no case number"):
            await ledger.cards.key_of(wrong)


async def test_of_many_who_reserve_a_card_one_may_post_it(ledger: Ledger) -> None:
    won = await asyncio.gather(*(ledger.cards.reserve(*HERE, "forum/1", "c1") for _ in range(8)))
    assert sum(won) == 1
    assert await ledger.cards.reserve("slack", "s1", "forum/1", "c1")


async def test_a_case_is_missing_until_its_card_is_reserved(ledger: Ledger, make: Any) -> None:
    cases = [await make.bring(ledger, CaseState.PENDING, make.post(number)) for number in range(3)]
    await make.bring(ledger, CaseState.GROUNDED, make.post("not-yet"))
    escalated = await make.bring(ledger, CaseState.ESCALATED, make.post("threat"))
    assert [case.key for case in await ledger.cards.missing(*HERE)] == [*(case.key for case in cases), escalated.key]
    await ledger.cards.reserve(*HERE, cases[0].key, "c1")
    uncarded = await ledger.cards.missing(*HERE, limit=1)
    assert [case.key for case in uncarded] == [cases[1].key]
    after = await ledger.cards.missing(*HERE, after=uncarded[0])
    assert [case.key for case in after] == [cases[2].key, escalated.key]


async def test_a_card_that_shows_the_end_is_compared_no_more(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.RELEASED)
    await ledger.cards.reserve(*HERE, case.key, "c1")
    await ledger.cards.record_message(*HERE, case.key, "m1", 0)
    assert len(await ledger.cards.outdated("discord", ["s1"])) == 1
    await ledger.cards.record_message(*HERE, case.key, "m1", 0, unsettled=False)
    assert await ledger.cards.outdated("discord", ["s1"]) == []


async def test_an_old_escalation_gets_no_card_any_more(ledger: Ledger, make: Any, clock: Any) -> None:
    await make.bring(ledger, CaseState.ESCALATED)
    clock.pass_s(25 * 3600)
    assert await ledger.cards.missing(*HERE) == []


async def test_a_card_is_outdated_when_its_case_moves_or_its_time_comes(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    await ledger.cards.reserve(*HERE, case.key, "c1")
    assert await ledger.cards.outdated("discord", ["s1"]) == []
    await ledger.cards.record_message(*HERE, case.key, "m1", case.version, clock() + timedelta(seconds=9))
    assert await ledger.cards.outdated("discord", ["s1"]) == []
    clock.pass_s(10)
    assert [card.message for card in await ledger.cards.outdated("discord", ["s1"])] == ["m1"]
    await ledger.cards.record_message(*HERE, case.key, "m1", case.version)
    assert await ledger.cards.outdated("discord", ["s1"]) == []
    await ledger.decisions.claim(case.key, case.version, "ana", clock() + timedelta(minutes=1))
    assert len(await ledger.cards.outdated("discord", ["s1"])) == 1
    assert await ledger.cards.outdated("discord", ["s2"]) == []


async def test_a_reservation_without_a_message_is_unfinished(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    await ledger.cards.reserve(*HERE, case.key, "c1")
    await ledger.cards.reserve(*HERE, "forum/counted", "c1", counted_only=True)
    assert await ledger.cards.unfinished("discord", ["s1"], clock()) == []
    clock.pass_s(1)
    assert [card.case_key for card in await ledger.cards.unfinished("discord", ["s1"], clock())] == [case.key]
    assert await ledger.cards.count_recent(*HERE, "c1", clock() - timedelta(minutes=1)) == 1
    await ledger.cards.forget(*HERE, case.key)
    assert await ledger.cards.find(*HERE, case.key) is None


async def test_a_card_is_found_by_its_case(ledger: Ledger) -> None:
    await ledger.cards.reserve(*HERE, "forum/1", "c1")
    await ledger.cards.record_message(*HERE, "forum/1", "m1", 4)
    card = await ledger.cards.find(*HERE, "forum/1")
    assert card is not None
    assert (card.message, card.version) == ("m1", 4)
    assert await ledger.cards.find("slack", "s1", "forum/1") is None


async def test_ids_may_have_255_characters(ledger: Ledger, clock: Any) -> None:
    server, channel, message = (f"!{letter * 247}:x.test" for letter in "scm")
    assert {len(server), len(channel), len(message)} == {255}
    await ledger.cards.reserve("matrix", server, "forum/1", channel)
    await ledger.cards.record_message("matrix", server, "forum/1", message, 4)
    card = await ledger.cards.find("matrix", server, "forum/1")
    assert card is not None and (card.server, card.channel, card.message) == (server, channel, message)
    await ledger.cards.record_notice(Notice("matrix", server, channel, "reminder", message, 1, clock(), clock()))
    assert await ledger.cards.find_notice("matrix", server, channel, "reminder") is not None
    await ledger.moderator_settings.set_intent("matrix", server, ScopeKind.CHANNEL, channel, Intent.POSITIVE, "lea")
    assert [item.scope for item in await ledger.moderator_settings.intents("matrix", server)] == [channel]
    await ledger.moderator_settings.switch("matrix", server, SwitchKind.PAUSED, channel, "lea", on=True)
    assert [item.scope for item in await ledger.moderator_settings.switched("matrix", server)] == [channel]


async def test_a_newer_notice_takes_the_place_of_the_one_before(ledger: Ledger, clock: Any) -> None:
    for count in (1, 2):
        await ledger.cards.record_notice(Notice(*HERE, "c1", "surge:jews", "m1", count, clock(), clock()))
    notice = await ledger.cards.find_notice(*HERE, "c1", "surge:jews")
    assert notice is not None
    assert (notice.count, notice.since) == (2, clock())
    assert await ledger.cards.find_notice(*HERE, "c1", "reminder") is None


async def test_settings_are_kept_changed_and_taken_back(ledger: Ledger, clock: Any) -> None:
    settings = ledger.moderator_settings
    for intent in (Intent.POSITIVE, Intent.QUESTIONING):
        await settings.set_intent(*HERE, ScopeKind.GROUP, "jews", intent, "lea")
    await settings.set_intent("slack", "s9", ScopeKind.SERVER, "", Intent.POSITIVE, "lea")
    assert [(item.scope, item.intent, item.who) for item in await settings.intents(*HERE)] == [
        ("jews", Intent.QUESTIONING, "lea")
    ]
    assert len(await settings.intents()) == 2
    await settings.set_intent(*HERE, ScopeKind.GROUP, "jews", None, "lea")
    assert await settings.intents(*HERE) == []

    await settings.switch(*HERE, SwitchKind.PAUSED, "c1", "lea", on=True, until=clock() + timedelta(hours=1))
    await settings.switch(*HERE, SwitchKind.MUTED, "forum", "lea", on=True)
    assert {item.scope for item in await settings.switched(*HERE)} == {"c1", "forum"}
    clock.pass_s(3601)
    assert [item.scope for item in await settings.switched(*HERE)] == ["forum"]
    await settings.switch(*HERE, SwitchKind.MUTED, "forum", "lea", on=False)
    assert await settings.switched(*HERE) == []

    await settings.hide("ana", TargetGroup.JEWS, hidden=True)
    assert await settings.hidden("ana") == {TargetGroup.JEWS}
    assert await settings.hidden("ben") == frozenset()
    await settings.hide("ana", TargetGroup.JEWS, hidden=False)
    assert await settings.hidden("ana") == frozenset()
