from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from bot.chat.cards import Card
from bot.chat.languages import Languages
from bot.chat.own_cases import OwnCases
from bot.chat.reminders import Reminders, is_quiet, reminder, zone
from bot.chat.surge import surge_text
from core.domain import TargetGroup, now
from core.errors import BadSettings, CardRefused, ChannelLost, ChatUnavailable
from core.settings import CareSettings, ChannelRule, ChatWorkspace
from tests.bot.conftest import House
from tests.bot.samples import add_pending, post

SERVERS = {"s1": ChatWorkspace(channel="all", lead_channel="leads"), "s2": ChatWorkspace(channel="all")}
NIGHT = CareSettings(quiet_from=time(22), quiet_until=time(7), timezone="Europe/Madrid")


class Wall:
    """A board that only remembers what was announced."""

    surface = "discord"

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    async def announce(self, server: str, channel: str, text: str, message: str | None) -> str:
        self.said.append((channel, text))
        return str(len(self.said))

    async def post(self, server: str, channel: str, card: Card, number: int) -> str:
        raise AssertionError("nothing is to be posted")

    async def update(self, server: str, channel: str, message: str, card: Card, number: int) -> None:
        raise AssertionError("nothing is to be updated")

    async def find(self, server: str, channel: str, number: int, since: datetime) -> str | None:
        raise AssertionError("nothing is to be looked for")


def reminders(house: House, wall: Wall, servers: dict[str, ChatWorkspace] = SERVERS, **care: Any) -> Reminders:
    languages = Languages(wall.surface, servers, house.ledger.moderator_settings)
    own_cases = OwnCases(house.desk, house.ledger.cards, servers)
    return Reminders(own_cases, house.ledger.cards, wall, servers, CareSettings(**care), languages)


async def test_leads_are_reminded_of_an_old_queue_and_not_again_at_once(house: House) -> None:
    wall = Wall()
    await add_pending(house.ledger, post(1))
    await add_pending(house.ledger, post(2))
    care = reminders(house, wall)
    await care.send_due(now())
    assert wall.said == []
    later = now() + timedelta(minutes=31)
    await care.send_due(later)
    await care.send_due(later + timedelta(minutes=5))
    assert wall.said == [("leads", "2 cases wait, the oldest for 31 min. See /rejoinder queue")]
    await care.send_due(later + timedelta(minutes=61))
    assert len(wall.said) == 2


async def test_nobody_is_reminded_in_the_quiet_hours(house: House) -> None:
    wall = Wall()
    await add_pending(house.ledger, post(1))
    moment = now() + timedelta(hours=2)
    quiet: dict[str, Any] = {
        "quiet_from": (moment - timedelta(hours=1)).time(),
        "quiet_until": (moment + timedelta(hours=1)).time(),
    }
    await reminders(house, wall, **quiet).send_due(moment)
    assert wall.said == []


@pytest.mark.parametrize("error", [ChannelLost("closed", gone=False), ChatUnavailable("away"), CardRefused("too long")])
async def test_a_server_whose_leads_can_not_be_reached_silences_no_other(
    house: House, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    class BrokenWall(Wall):
        async def announce(self, server: str, channel: str, text: str, message: str | None) -> str:
            if server == "broken":
                raise error
            return await super().announce(server, channel, text, message)

    wall = BrokenWall()
    servers = {name: ChatWorkspace(channel="all", lead_channel=f"leads of {name}") for name in ("broken", "other")}
    await add_pending(house.ledger, post(1))
    await reminders(house, wall, servers).send_due(now() + timedelta(hours=1))
    assert [channel for channel, _ in wall.said] == ["leads of other"]
    assert "The leads of discord server broken can't be reminded" in caplog.text


async def test_a_server_is_reminded_of_its_own_cases_behind_many_of_others(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.chat.reminders.LOOKED_THROUGH", 2)
    wall = Wall()
    servers = {
        "s1": ChatWorkspace(rules=(ChannelRule(channel="w", groups=(TargetGroup.WOMEN,)),), lead_channel="leads")
    }
    for number in (1, 2, 3):
        await add_pending(house.ledger, post(number))
    await add_pending(house.ledger, post(4), group=TargetGroup.WOMEN)
    await reminders(house, wall, servers).send_due(now() + timedelta(hours=1))
    assert [text.split(",")[0] for _, text in wall.said] == ["One case waits"]


@pytest.mark.parametrize(
    ("hour", "quiet"), [(20, False), (21, True), (23, True), (3, True), (5, True), (6, False), (12, False)]
)
def test_quiet_hours_go_over_midnight_in_the_local_time(hour: int, quiet: bool) -> None:
    # Madrid is one hour ahead of UTC in November.
    moment = datetime(2026, 11, 20, hour, 30, tzinfo=UTC)
    assert is_quiet(moment, NIGHT, zone("Europe/Madrid")) is quiet


def test_without_quiet_hours_it_is_never_quiet_and_a_wrong_zone_is_told() -> None:
    assert not is_quiet(now(), CareSettings(), UTC)
    with pytest.raises(BadSettings, match="Zorblax/Main"):
        zone("Zorblax/Main")


def test_the_notices_read_well() -> None:
    assert reminder(1, timedelta(hours=3), 0) == "One case waits, the oldest for 3 h. See /rejoinder queue"
    assert reminder(5, timedelta(hours=3), 2).startswith(
        "5 cases wait, the oldest for 3 h. 2 of them are in doubt. See"
    )
    notice = surge_text(TargetGroup.MUSLIMS, 37, timedelta(minutes=10))
    assert notice.startswith("Surge: 37 posts against Muslims in 10 minutes.")
    assert "1 post against Jews in 1 minute." in surge_text(TargetGroup.JEWS, 1, timedelta(0))
