from __future__ import annotations

import pytest

from bot.slack.checkup import SCOPES, complaints
from bot.slack.socket_mode import SocketModeConnection
from bot.slack.workspaces import Workspaces
from core.errors import BadSettings
from core.settings import ChannelRule, ChatWorkspace
from tests.bot.slack.server import APP_TOKEN, BOT_TOKEN, TEAM, Slack
from tests.bot.slack.workplace import BOT_SCOPES

WHOLE = ChatWorkspace(
    channel="C0DESK", rules=(ChannelRule(channel="C0OLD"), ChannelRule(channel="C0OUT")), lead_channel="C0GONE",
    reviewers=("U0ANA",), leads=("S0LEADS", "U0LEA"),
)  # fmt: skip

WELL = ChatWorkspace(channel="C0DESK", lead_channel="C0DESK", reviewers=("U0ANA",))


def workspaces(slack: Slack, server: ChatWorkspace, token: str = BOT_TOKEN) -> Workspaces:
    return Workspaces({TEAM: server}, {TEAM: token}, slack.base_url)


async def test_nothing_is_told_when_all_is_well(slack: Slack) -> None:
    line = SocketModeConnection(APP_TOKEN, slack.base_url)
    assert await complaints(workspaces(slack, WELL), line) == []


async def test_a_workspace_where_nobody_may_decide_is_told(slack: Slack) -> None:
    (complaint,) = await complaints(workspaces(slack, WELL.model_copy(update={"reviewers": ()})), None)
    assert "T0FIRST names no reviewers" in complaint


async def test_a_workspace_whose_leads_are_told_nothing_is_told(slack: Slack) -> None:
    (complaint,) = await complaints(workspaces(slack, WELL.model_copy(update={"lead_channel": None})), None)
    assert "T0FIRST names no channel for leads, so no notice of an escalation" in complaint
    assert "set `lead_channel` in REJOINDER_SLACK__WORKSPACES" in complaint


async def test_everything_that_does_not_fit_is_told_with_what_to_do(slack: Slack) -> None:
    slack.at.add_channel(TEAM, "C0OLD", "old", archived=True)
    slack.at.add_channel(TEAM, "C0OUT", "out", bot_inside=False)
    slack.at.tokens[BOT_TOKEN].scopes.discard("files:write")
    report = "\n".join(await complaints(workspaces(slack, WHOLE), None))
    assert "lacks files:write" in report
    assert "C0OLD of workspace T0FIRST was archived" in report
    assert "not in Slack channel C0OUT" in report
    assert "C0GONE of workspace T0FIRST was deleted" in report
    assert "no user group S0LEADS" in report
    assert BOT_TOKEN not in report


@pytest.mark.parametrize("refused", ["token_revoked", "token_expired", "account_inactive", "invalid_auth"])
async def test_a_bad_token_is_told_and_stops_the_start(slack: Slack, refused: str) -> None:
    slack.at.tokens[BOT_TOKEN].refused = refused
    bad = workspaces(slack, WHOLE)
    (complaint,) = await complaints(bad, None)
    assert "Slack refuses the token of T0FIRST" in complaint
    with pytest.raises(BadSettings):
        await bad.require_working_token()


async def test_a_token_of_another_workspace_is_told(slack: Slack) -> None:
    slack.at.add_team("T0OTHER", "xoxb-other")
    (complaint,) = await complaints(workspaces(slack, WHOLE, "xoxb-other"), None)
    assert "belongs to T0OTHER" in complaint


def test_the_manifest_asks_for_what_is_needed_and_no_more() -> None:
    assert set(SCOPES) == BOT_SCOPES


async def test_one_good_token_is_enough_to_start(slack: Slack) -> None:
    slack.at.add_team("T0OTHER", "xoxb-other")
    slack.at.tokens["xoxb-other"].refused = "token_revoked"
    servers = {TEAM: WELL, "T0OTHER": WELL}
    both = Workspaces(servers, {TEAM: BOT_TOKEN, "T0OTHER": "xoxb-other"}, slack.base_url)
    await both.require_working_token()
    (complaint,) = await complaints(both, None)
    assert "T0OTHER: it was revoked" in complaint


async def test_slack_away_is_told_and_does_not_stop_the_start() -> None:
    away = Workspaces({TEAM: WELL}, {TEAM: BOT_TOKEN}, "http://127.0.0.1:9/api/")
    await away.require_working_token()
    (complaint,) = await complaints(away, None)
    assert "Slack can't be reached" in complaint
