"""From a flag to the platform's reply through Slack, with the real broker, worker and ledger."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bot.auth import Auth
from bot.changes import Changes
from bot.desk import Desk
from core.settings import DeskSettings, Settings
from core.tokens import TokenTable
from ledger import Ledger
from rejoinder.guard_assembly import open_guard
from tests.bot.conftest import House
from tests.bot.slack import conftest
from tests.bot.slack.conftest import Floor, buttons
from tests.bot.slack.server import Slack

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

slack = conftest.slack
UNDO_S = 8.0  # long enough for a busy machine to show the button
DEMO_FLAGS = ("--chat-model", "none", "--no-samples")
DEMO_ENV = {"REJOINDER_DESK__UNDO_S": str(UNDO_S)}
SOON = pytest.mark.parametrize("soon_s", [60, pytest.param(2, marks=pytest.mark.slow)])
"""How soon the card shows a decision: within two seconds where nothing else runs, as in `make test-slow`."""


def flag(post_id: str) -> dict[str, str]:
    text = "Women have no business in parliament, they should leave decisions to the men."
    return {"platform": "birdsong", "post_id": post_id, "text": text, "language": "en"}


@asynccontextmanager
async def bot_beside(demo: Any, slack: Slack) -> AsyncIterator[Floor]:
    """Run a Slack bot on the demo's ledger."""
    ledger = await Ledger.open(f"sqlite+aiosqlite:///{demo.data / 'ledger.db'}", b"another key")
    settings, guard = DeskSettings(undo_s=UNDO_S), open_guard(Settings())
    desk, changes = Desk(ledger, guard, settings), Changes(ledger.history)
    floor = Floor(slack, House(ledger, desk, changes, Auth(TokenTable({}), ledger.sessions), guard, settings))
    try:
        async with floor.working():
            yield floor
    finally:
        await ledger.close()


@SOON
async def test_a_flag_is_answered_through_slack_and_the_card_follows_it_to_its_release(
    demo: Any, slack: Slack, soon_s: int
) -> None:
    async with bot_beside(demo, slack) as floor:
        key = f"birdsong/answered-{soon_s}"
        await demo.send([flag(f"answered-{soon_s}")])
        await conftest.until(lambda: bool(floor.cards()), 240)
        draft = (await demo.get(f"/v1/cases/{key}"))["drafts"][-1]["text"]
        await floor.press("approve")
        await conftest.until(lambda: "ana approved it" in conftest.seen(floor.cards()[0]), soon_s)
        history = (await demo.get(f"/v1/cases/{key}"))["history"]
        assert "approved" in [change["to_state"] for change in history]
        await conftest.until(lambda: buttons(floor.cards()[0]) == ["show", "evidence"], 120)
        await conftest.until(lambda: "the reply has left" in conftest.seen(floor.cards()[0]), 120)
        assert [reply["text"] for reply in await demo.replies(key)] == [draft]
    assert slack.socket.complaints == []


@SOON
async def test_a_decision_in_the_browser_reaches_slack(demo: Any, slack: Slack, soon_s: int) -> None:
    async with bot_beside(demo, slack) as floor:
        key = f"birdsong/rejected-{soon_s}"
        await demo.send([flag(f"rejected-{soon_s}")])
        await conftest.until(lambda: bool(floor.cards()), 240)
        version = (await demo.get(f"/v1/cases/{key}"))["version"]
        status, _ = await demo.decide(key, action="reject", version=version, reason="tone")
        assert status == 200
        await conftest.until(lambda: "rejected it (The tone is wrong)" in conftest.seen(floor.cards()[0]), soon_s)
