"""Remind only the leads of an ageing queue, and never in the quiet hours."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.chat.card_board import CardBoard
from bot.chat.languages import Languages
from bot.chat.own_cases import OwnCases
from bot.desk import CaseQuery
from bot.translation import _, ngettext, speaking
from bot.wording import duration
from core.domain import now
from core.errors import BadSettings, RejoinderError
from core.settings import CareSettings, ChatWorkspace
from ledger.cards import Cards, Notice

log = logging.getLogger(__name__)

NOTICE_TOPIC = "reminder"
LOOKED_THROUGH = 200


class Reminders:
    """Reminders in each server's channel for leads; a server without one gets none."""

    def __init__(
        self,
        own_cases: OwnCases,
        cards: Cards,
        board: CardBoard,
        servers: Mapping[str, ChatWorkspace],
        care: CareSettings,
        languages: Languages,
        every_s: float = 60.0,
    ) -> None:
        self._own_cases = own_cases
        self._cards = cards
        self._board = board
        self._lead_channels = {name: server.lead_channel for name, server in servers.items() if server.lead_channel}
        self._care = care
        self._languages = languages
        self._zone = zone(care.timezone)
        self._every_s = every_s

    async def run(self) -> None:
        """Check the queue regularly until cancelled."""
        while True:
            await self.send_due(now())
            await asyncio.sleep(self._every_s)

    async def send_due(self, moment: datetime) -> None:
        """Send the reminders that are due at `moment`."""
        if is_quiet(moment, self._care, self._zone):
            return
        for server, channel in self._lead_channels.items():
            try:
                await self._remind(server, channel, moment)
            except RejoinderError as error:
                log.warning("The leads of %s server %s can't be reminded: %s", self._board.surface, server, error)

    async def _remind(self, server: str, channel: str, moment: datetime) -> None:
        last = await self._cards.find_notice(self._board.surface, server, channel, NOTICE_TOPIC)
        if last is not None and moment - last.at < timedelta(seconds=self._care.remind_every_s):
            return
        cases = await self._own_cases.list(server, CaseQuery(limit=LOOKED_THROUGH), LOOKED_THROUGH)
        if not cases or (age := moment - cases[0].received_at) < timedelta(seconds=self._care.remind_after_s):
            return
        doubtful = sum(case.doubtful for case in cases)
        with speaking(self._languages.of_server(server)):
            text = reminder(len(cases), age, doubtful)
        message = await self._board.announce(server, channel, text, None)
        await self._cards.record_notice(
            Notice(self._board.surface, server, channel, NOTICE_TOPIC, message, len(cases), moment, moment)
        )


def reminder(count: int, age: timedelta, doubtful: int) -> str:
    """Return how old the queue is, and how much of it is in doubt."""
    time = duration(age)
    if count == LOOKED_THROUGH:
        waiting = _("{n} or more cases wait, the oldest for {time}.", n=count, time=time)
    else:
        waiting = ngettext(
            "One case waits, the oldest for {time}.", "{n} cases wait, the oldest for {time}.", count, time=time
        )
    in_doubt = ngettext("{n} of them is in doubt.", "{n} of them are in doubt.", doubtful) if doubtful else ""
    return " ".join(filter(None, (waiting, in_doubt, _("See {command}", command="/rejoinder queue"))))


def is_quiet(moment: datetime, care: CareSettings, local: tzinfo) -> bool:
    """Tell whether a moment falls into the quiet hours, which may span midnight."""
    if care.quiet_from is None or care.quiet_until is None:
        return False
    clock = moment.astimezone(local).time()
    if care.quiet_from <= care.quiet_until:
        return care.quiet_from <= clock < care.quiet_until
    return clock >= care.quiet_from or clock < care.quiet_until


def zone(name: str) -> tzinfo:
    """Return the time zone with this name. Raises BadSettings."""
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise BadSettings(
            f"care.timezone is {name[:60]!r}, which is no time zone known here; use a name like Europe/Madrid."
        ) from error
