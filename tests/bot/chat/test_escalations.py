from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any

import pytest

from bot.changes import Changes
from bot.chat.escalations import Escalations, escalation_text
from bot.chat.languages import Languages
from core.domain import FlaggedPost, Route, TargetGroup, now
from core.errors import CardRefused, ChannelLost, ChatUnavailable
from core.settings import CareSettings, ChannelRule, ChatWorkspace
from ledger import Ledger
from tests.bot.chat.test_reminders import Wall
from tests.bot.samples import HOSTILE, add_pending, post, triage_of

THREAT = "It threatens people with violence, or calls for it: a person has to look, so nothing is drafted."
SERVERS = {"s1": ChatWorkspace(channel="all", lead_channel="leads"), "s2": ChatWorkspace(channel="all")}


class Board(Wall):
    """A wall of notices that can be changed in place."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: dict[str, str] = {}
        self.error: Exception | None = None

    async def announce(self, server: str, channel: str, text: str, message: str | None) -> str:
        if self.error is not None:
            raise self.error
        id = message or await super().announce(server, channel, text, message)
        self.shown[id] = text
        return id


def escalations(ledger: Ledger, board: Board, servers: dict[str, ChatWorkspace] = SERVERS, **care: Any) -> Escalations:
    languages = Languages(board.surface, servers, ledger.moderator_settings)
    return Escalations(ledger, board, servers, CareSettings(**care), Changes(ledger.history), languages)


async def escalate(ledger: Ledger, flagged: FlaggedPost, group: TargetGroup = TargetGroup.MIGRANTS) -> int:
    """Escalate a post and return its case's number."""
    triage = triage_of(group, Route.ESCALATE).model_copy(update={"reason": THREAT})
    await ledger.stages.receive([flagged])
    await ledger.stages.triage(flagged, triage)
    return await ledger.cards.number_of(flagged.key)


async def test_leads_are_told_why_and_how_to_open_it_but_not_what_the_post_says(ledger: Ledger) -> None:
    board = Board()
    await add_pending(ledger, post(1))
    telling = escalations(ledger, board)
    await telling.tell_new(now())
    assert board.shown == {}
    number = await escalate(ledger, post(2, HOSTILE))
    await telling.tell_new(now())
    assert board.said == [(
        "leads", "1 post was escalated. It threatens people with violence, or calls for it. "
        f"Open it with /rejoinder case {number}",
    )]  # fmt: skip
    assert "Zorblaxians" not in str(board.shown)


async def test_a_burst_becomes_one_notice_that_counts_and_a_later_one_another(ledger: Ledger) -> None:
    board, moment = Board(), now()
    telling = escalations(ledger, board, escalations_every_s=300)
    for number in range(1, 5):
        await escalate(ledger, post(number))
        await telling.tell_new(moment + timedelta(minutes=number))
    assert list(board.shown) == ["1"]
    assert board.shown["1"].startswith("4 posts were escalated within 3 min. The newest: It threatens")
    await escalate(ledger, post(5))
    await telling.tell_new(moment + timedelta(minutes=7))
    assert board.shown["2"].startswith("1 post was escalated")


async def test_a_bot_that_was_away_tells_what_it_missed_and_nothing_again(ledger: Ledger) -> None:
    board = Board()
    await escalate(ledger, post(1))
    await escalations(ledger, board).tell_new(now())
    await escalations(ledger, board).tell_new(now())
    assert board.shown["1"].startswith("1 post was escalated")
    await escalate(ledger, post(2))
    await escalations(ledger, board).tell_new(now())
    assert board.shown["1"].startswith("2 posts were escalated")
    await escalations(ledger, board).tell_new(now() + timedelta(days=2))
    assert list(board.shown) == ["1"]


async def test_what_is_older_than_a_day_is_not_told(ledger: Ledger) -> None:
    board = Board()
    await escalate(ledger, post(1))
    await escalations(ledger, board).tell_new(now() + timedelta(hours=25))
    assert board.shown == {}


@pytest.mark.parametrize("error", [ChatUnavailable("away"), ChannelLost("closed", gone=False), CardRefused("no text")])
async def test_a_notice_that_could_not_be_posted_is_told_later(ledger: Ledger, error: Exception) -> None:
    board = Board()
    telling = escalations(ledger, board)
    await escalate(ledger, post(1))
    board.error = error
    await telling.tell_new(now())
    board.error = None
    await telling.tell_new(now())
    assert len(board.shown) == 1


async def test_a_server_is_told_only_of_cases_that_go_there(ledger: Ledger) -> None:
    rule = ChannelRule(channel="w", groups=(TargetGroup.WOMEN,))
    board = Board()
    telling = escalations(ledger, board, {"s1": ChatWorkspace(rules=(rule,), lead_channel="leads")})
    await escalate(ledger, post(1))
    await telling.tell_new(now())
    assert board.shown == {}
    number = await escalate(ledger, post(2), TargetGroup.WOMEN)
    await telling.tell_new(now())
    assert f"case {number}" in board.shown["1"]


async def test_quiet_hours_hold_no_escalation_up(ledger: Ledger) -> None:
    board = Board()
    await escalate(ledger, post(1))
    await escalations(ledger, board, quiet_from=time(0), quiet_until=time(23, 59, 59)).tell_new(now())
    assert len(board.shown) == 1


def test_the_notices_read_well() -> None:
    moment = datetime(2026, 11, 1)
    assert escalation_text(1, "", 7, moment - moment).startswith("1 post was escalated. No reason was noted. Open")
    assert escalation_text(3, "It is a threat.", 7, timedelta(0)) == (
        "3 posts were escalated. The newest: It is a threat. Open it with /rejoinder case 7"
    )
