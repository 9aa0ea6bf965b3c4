from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from unittest.mock import create_autospec

import pytest

from bot.chat import card_sync
from bot.chat.cards import build_card
from bot.chat.defuse import JOINER
from bot.permissions import Moderator
from core.domain import Action, Decision, TargetGroup
from core.settings import CareSettings, ChannelRule, ChatWorkspace
from tests.bot.samples import add_pending, fill, post
from tests.bot.slack.conftest import ANA, CHANNEL, LEA, SERVER, Floor, buttons, seen, until
from tests.bot.slack.server import BOT_TOKEN, TEAM


async def approve_elsewhere(floor: Floor, key: str) -> None:
    case = await floor.house.desk.case(key)
    decision = Decision(action=Action.APPROVE, version=case.version)
    await floor.house.desk.decide(key, decision, Moderator("web", "reviewer"))


async def test_cards_missed_while_the_bot_was_down_appear_and_none_twice(floor: Floor) -> None:
    keys = await fill(floor.house.ledger)
    async with floor.working():
        await until(lambda: len(floor.cards()) == len(keys))
    await add_pending(floor.house.ledger, post(7))
    async with floor.working():
        await until(lambda: len(floor.cards()) == len(keys) + 1)
        await floor.bot.card_sync.wait_until_idle()
    assert len({seen(card) for card in floor.cards()}) == len(keys) + 1


async def test_a_draft_full_of_markup_is_shown_whole_where_it_can_be_approved(working: Floor) -> None:
    draft = ("It is so_and *so* & <more> " * 40)[:960].strip()
    await add_pending(working.house.ledger, post(1), draft)
    card = await working.card()
    assert draft in seen(card).replace(JOINER, "")
    assert "approve" in buttons(card)


async def test_an_old_card_still_works_after_a_restart(floor: Floor) -> None:
    key = await add_pending(floor.house.ledger, post(1))
    async with floor.working():
        await floor.card()
    async with floor.working():
        await floor.press("approve")
        await floor.card("ana approved it")
    assert (await floor.house.desk.case(key)).decided_by == "ana"


async def test_what_was_decided_while_the_bot_was_down_is_shown(floor: Floor) -> None:
    key = await add_pending(floor.house.ledger, post(1))
    async with floor.working():
        await floor.card()
    await approve_elsewhere(floor, key)
    async with floor.working():
        assert "approve" not in buttons(await floor.card("web approved it"))


@pytest.mark.parametrize("soon_s", [60, pytest.param(2, marks=pytest.mark.slow)])
async def test_a_decision_elsewhere_shows_soon(working: Floor, soon_s: int) -> None:
    key = await add_pending(working.house.ledger, post(1))
    await working.card()
    await approve_elsewhere(working, key)
    async with asyncio.timeout(soon_s):
        await working.card("web approved it")


async def test_a_crash_between_posting_and_noting_it_leaves_one_card(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_pending(floor.house.ledger, post(1))
    record_message = floor.house.ledger.cards.record_message
    crash = create_autospec(record_message, side_effect=RuntimeError("the process ends here"))
    monkeypatch.setattr(floor.house.ledger.cards, "record_message", crash)
    async with floor.working():
        await until(lambda: len(floor.cards()) == 1)
        await floor.bot.card_sync.wait_until_idle()
    monkeypatch.setattr(floor.house.ledger.cards, "record_message", record_message)
    monkeypatch.setattr(card_sync, "ORPHAN_S", 0.0)
    async with floor.working():
        await floor.press("approve")
        await floor.card("ana approved it")
    assert len(floor.cards()) == 1


async def test_a_crash_before_posting_leaves_no_gap(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    key = await add_pending(floor.house.ledger, post(1))
    assert await floor.house.ledger.cards.reserve("slack", TEAM, key, CHANNEL)
    monkeypatch.setattr(card_sync, "ORPHAN_S", 0.0)
    async with floor.working():
        await floor.card()


async def test_when_slack_asks_to_wait_the_bot_waits_and_posts_once(floor: Floor) -> None:
    await add_pending(floor.house.ledger, post(1))
    floor.slack.at.limits["chat.postMessage"] = [1]
    async with floor.working():
        await floor.card()
    assert len(floor.slack.at.called("chat.postMessage")) == 1


async def test_an_outage_of_slack_is_waited_out(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_sync, "ORPHAN_S", 0.1)
    await add_pending(floor.house.ledger, post(1))
    floor.slack.at.broken["chat.postMessage"] = [503, 500]
    async with floor.working():
        await floor.card()


async def test_a_card_that_somebody_deleted_is_posted_anew(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    first = await working.card()
    del working.slack.at.channels[CHANNEL].messages[first["ts"]]
    case = await working.house.desk.case(key)
    await working.house.desk.decide(key, Decision(action=Action.CLAIM, version=case.version), Moderator("ben", "lead"))
    await working.card("ben holds it")


@pytest.mark.parametrize(
    ("happens", "says"),
    [
        ({"archived": True}, "was archived"),
        ({"deleted": True}, "was deleted"),
        ({"bot_inside": False}, "/invite @Rejoinder"),
    ],
)
async def test_a_lost_channel_is_told_and_its_cases_go_to_the_default_one(
    floor: Floor, happens: dict[str, bool], says: str, caplog: pytest.LogCaptureFixture
) -> None:
    rule = ChannelRule(channel="C0WOMEN", groups=(TargetGroup.WOMEN,))
    floor.servers = {TEAM: SERVER.model_copy(update={"rules": (rule,)})}
    channel = floor.slack.at.add_channel(TEAM, "C0WOMEN", "women")
    for name, value in happens.items():
        setattr(channel, name, value)
    async with floor.working():
        await add_pending(floor.house.ledger, post(1), group=TargetGroup.WOMEN)
        await floor.card()
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 1 and says in errors[0].getMessage() and "C0WOMEN" in errors[0].getMessage()


@pytest.mark.parametrize(
    ("refused", "says"), [("token_revoked", "it was revoked"), ("account_inactive", "the app was removed")]
)
async def test_a_revoked_token_is_told_once_in_plain_words(
    floor: Floor, refused: str, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    floor.slack.at.tokens[BOT_TOKEN].refused = refused
    async with floor.working(socket=False):
        await add_pending(floor.house.ledger, post(1))
        await until(lambda: says in caplog.text)
        await floor.bot.card_sync.wait_until_idle()
    errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(errors) == 1 and BOT_TOKEN not in caplog.text and "Traceback" not in caplog.text


async def test_a_missing_scope_is_named_with_what_to_do(floor: Floor, caplog: pytest.LogCaptureFixture) -> None:
    floor.slack.at.tokens[BOT_TOKEN].scopes.discard("chat:write")
    async with floor.working(socket=False):
        await add_pending(floor.house.ledger, post(1))
        await until(lambda: "lacks the scope chat:write" in caplog.text)
    assert "install the app again" in caplog.text


async def test_a_card_that_slack_refuses_holds_up_no_other(
    floor: Floor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The longest posted card is looked at first in every pass."""
    keys = [await add_pending(floor.house.ledger, post(number)) for number in (1, 2)]
    async with floor.working(socket=False):
        await until(lambda: len(floor.cards()) == 2)
        await floor.bot.card_sync.wait_until_idle()
    monkeypatch.setattr(card_sync, "build_card", lambda case: replace(
        build_card(case), standing="x" * 20_000 if case.key == keys[0] else "shown anew",
    ))  # fmt: skip
    for key in keys:
        await approve_elsewhere(floor, key)
    async with floor.working(socket=False):
        await until(lambda: any("shown anew" in seen(card) for card in floor.cards()))
    assert f"The card of case {keys[0]} can't be updated" in caplog.text and "msg_blocks_too_long" in caplog.text


async def test_two_workspaces_have_channels_and_people_of_their_own(floor: Floor) -> None:
    other = ChatWorkspace(channel="C0OTHER", reviewers=(LEA,), people={LEA: "lea"})
    floor.slack.at.add_team("T0OTHER", "xoxb-other-workspace")
    floor.slack.at.add_channel("T0OTHER", "C0OTHER", "other-desk")
    floor.servers, floor.tokens = {TEAM: SERVER, "T0OTHER": other}, {TEAM: BOT_TOKEN, "T0OTHER": "xoxb-other-workspace"}
    async with floor.working():
        key = await add_pending(floor.house.ledger, post(1))
        await floor.card()
        await floor.card(channel="C0OTHER")
        await floor.press("approve", ANA, "C0OTHER")
        await floor.ephemeral("You may look but not decide", "C0OTHER")
        await floor.press("approve", LEA, "C0OTHER")
        await floor.card("lea approved it")
        await floor.card("lea approved it", "C0OTHER")
    assert (await floor.house.desk.case(key)).decided_by == "lea"


async def test_members_of_a_user_group_hold_its_role(floor: Floor) -> None:
    floor.slack.at.groups["S0LEADS"] = {ANA}
    floor.servers = {
        TEAM: ChatWorkspace(channel=CHANNEL, leads=("S0LEADS",), reviewers=("U0NOBODY",), people={ANA: "ana"})
    }
    async with floor.working():
        await add_pending(floor.house.ledger, post(1))
        await floor.press("approve", ANA)
        await floor.card("ana approved it")


async def test_a_surge_becomes_one_notice_that_counts(floor: Floor) -> None:
    floor.care = CareSettings(surge_cards=2)
    async with floor.working():
        for number in range(5):
            await add_pending(floor.house.ledger, post(number))
        await until(lambda: any("Surge: 3 posts" in seen(item) for item in floor.slack.at.messages(CHANNEL)))
        await add_pending(floor.house.ledger, post(6))
        await until(lambda: any("Surge: 4 posts" in seen(item) for item in floor.slack.at.messages(CHANNEL)))
        assert len(floor.cards()) == 2 and len(floor.slack.at.messages(CHANNEL)) == 3


async def test_an_open_claim_that_runs_out_is_taken_off_the_card(working: Floor) -> None:
    await add_pending(working.house.ledger, post(1))
    key = (await working.house.ledger.cases.page(limit=1)).cases[0].key
    case = await working.house.desk.case(key)
    until_soon = case.received_at + timedelta(seconds=1)
    await working.house.ledger.decisions.claim(key, case.version, "ben", until_soon)
    await working.card("It waits for a decision")
