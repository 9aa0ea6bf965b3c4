from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from bot.chat.cards import Card
from bot.chat.languages import Languages
from bot.chat.reminders import Reminders, is_quiet, reminder, zone
from bot.chat.surge import surge_text
from core.domain import TargetGroup, now
from core.errors import BadSettings
from core.settings import CareSettings, ChatWorkspace
from ledger import Ledger
from tests.bot.samples import add_pending, post

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


def reminders(ledger: Ledger, wall: Wall, **care: Any) -> Reminders:
    servers = {"s1": ChatWorkspace(channel="all", lead_channel="leads"), "s2": ChatWorkspace(channel="all")}
    languages = Languages(wall.surface, servers, ledger.moderator_settings)
    return Reminders(ledger, wall, servers, CareSettings(**care), languages)


async def test_leads_are_reminded_of_an_old_queue_and_not_again_at_once(ledger: Ledger) -> None:
    wall = Wall()
    await add_pending(ledger, post(1))
    await add_pending(ledger, post(2))
    care = reminders(ledger, wall)
    await care.send_due(now())
    assert wall.said == []
    later = now() + timedelta(minutes=31)
    await care.send_due(later)
    await care.send_due(later + timedelta(minutes=5))
    assert wall.said == [("leads", "2 cases wait, the oldest for 31 min. See /rejoinder queue")]
    await care.send_due(later + timedelta(minutes=61))
    assert len(wall.said) == 2


async def test_nobody_is_reminded_in_the_quiet_hours(ledger: Ledger) -> None:
    wall = Wall()
    await add_pending(ledger, post(1))
    moment = now() + timedelta(hours=2)
    quiet = {"quiet_from": (moment - timedelta(hours=1)).time(), "quiet_until": (moment + timedelta(hours=1)).time()}
    await reminders(ledger, wall, **quiet).send_due(moment)
    assert wall.said == []


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
