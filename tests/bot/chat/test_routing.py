from __future__ import annotations

import pytest

from bot.chat.people import moderator
from bot.chat.place import Place
from bot.chat.routing import channel_for, channels, language_of, places
from bot.permissions import Moderator, require_lead
from core.domain import TargetGroup, Triage
from core.errors import Forbidden
from core.settings import ChannelRule, ChatWorkspace
from tests.factories import make_post, make_triage

G = TargetGroup
POST = make_post(language="es-MX")
NO_GROUP = make_triage().model_copy(update={"groups": ()})
SERVER = ChatWorkspace(
    channel="all",
    rules=(
        ChannelRule(channel="spanish-women", groups=(G.WOMEN,), languages=("es",)),
        ChannelRule(channel="women", groups=(G.WOMEN,)),
        ChannelRule(channel="faith", groups=(G.MUSLIMS, G.JEWS)),
        ChannelRule(channel="video", platforms=("tube",)),
    ),
    leads=("L",), admins=("A",), people={"7": "ana"},
)  # fmt: skip


@pytest.mark.parametrize(
    ("triaged", "channel"),
    [
        (make_triage(G.WOMEN), "women"),
        (make_triage(G.WOMEN, language="es"), "spanish-women"),
        (make_triage(G.WOMEN, language="und"), "spanish-women"),
        (make_triage(G.JEWS, G.WOMEN), "faith"),
        (make_triage(G.LGBT, G.MUSLIMS), "faith"),
        (make_triage(G.LGBT), "all"),
        (NO_GROUP, "all"),
        (None, "all"),
    ],
)
def test_the_first_rule_that_fits_the_surest_group_wins(triaged: Triage | None, channel: str) -> None:
    assert channel_for(SERVER, POST, triaged) == channel


def test_a_rule_may_name_a_platform_alone() -> None:
    tube = POST.model_copy(update={"platform": "tube"})
    assert channel_for(SERVER, tube, None) == "video"
    assert channel_for(SERVER, tube, make_triage(G.LGBT)) == "video"


def test_a_case_that_no_rule_fits_stays_away_from_a_server_without_a_default() -> None:
    only_faith = SERVER.model_copy(update={"channel": None})
    assert channel_for(only_faith, POST, make_triage(G.LGBT)) is None
    assert places("slack", {"a": SERVER, "b": only_faith}, POST, make_triage(G.LGBT)) == [Place("slack", "a", "all")]
    assert channels(only_faith) == ("spanish-women", "women", "faith", "video")


def test_the_language_of_the_platform_counts_where_triage_knows_none() -> None:
    assert language_of(POST, None) == "es"
    assert language_of(POST, make_triage(language="eu")) == "eu"


def test_roles_come_from_the_settings_and_names_are_safe_and_lasting() -> None:
    assert moderator(SERVER, "discord", "9", "zo<@e>x", ["L"]) == Moderator("zo_e_x (discord 9)", "lead")
    assert moderator(SERVER, "discord", "9", "zed", ["A", "L"]).role == "admin"
    strict = SERVER.model_copy(update={"reviewers": ("R", "7")})
    assert moderator(strict, "discord", "7", "whatever", []) == Moderator("ana", "reviewer")
    assert moderator(strict, "slack", "9", "zed", ["R"]).role == "reviewer"
    with pytest.raises(Forbidden, match="reviewer's role"):
        moderator(strict, "slack", "9", "zed", [])
    with pytest.raises(Forbidden, match="reviewer's role"):
        moderator(SERVER, "slack", "9", "zed", ["R"])  # it names no reviewers
    with pytest.raises(Forbidden, match="Only a lead or an admin may pause a channel"):
        require_lead(Moderator("zed", "reviewer"), "pause a channel")
