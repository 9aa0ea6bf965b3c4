"""Notify the leads of each server of escalations, in one notice that counts them and quotes no post.

The notice in the ledger stores the last escalation that was reported, so a restarted bot reports what it missed without
repeating anything. (If it is killed between the chat's answer and the ledger's, it does repeat one: better twice than
never.) Quiet hours and muted sources don't delay it: a threat can't wait.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from bot.changes import Changes, Subscription
from bot.chat.card_board import CardBoard
from bot.chat.languages import Languages
from bot.chat.routing import channel_for
from bot.stored_words import translate_stored
from bot.translation import _, ngettext, speaking
from bot.wording import duration
from core.domain import CaseState, Transition, now
from core.errors import RejoinderError
from core.settings import CareSettings, ChatWorkspace
from ledger import Ledger
from ledger.cards import ESCALATED_FOR, Notice

log = logging.getLogger(__name__)

NOTICE_TOPIC = "escalations"


class Escalations:
    """Notices of escalations in each server's channel for leads; a server without one gets none."""

    def __init__(
        self,
        ledger: Ledger,
        board: CardBoard,
        servers: Mapping[str, ChatWorkspace],
        care: CareSettings,
        changes: Changes,
        languages: Languages,
        every_s: float = 30.0,
    ) -> None:
        self._ledger = ledger
        self._board = board
        self._lead_channels = {name: server.lead_channel for name, server in servers.items() if server.lead_channel}
        self._servers = servers
        self._window = timedelta(seconds=care.escalations_every_s)
        self._changes = changes
        self._languages = languages
        self._every_s = every_s
        self._looked_at: dict[str, int] = {}

    async def run(self) -> None:
        """Report every escalation as it happens until cancelled, waiting out outages of ledger and platform."""
        with self._changes.subscribe() as changes:
            while True:
                changes.forget()
                await self.tell_new(now())
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._every_s):
                        await _next_escalation(changes)

    async def tell_new(self, moment: datetime) -> None:
        """Tell each server's leads what has been escalated since the last notice, as of `moment`."""
        for server, channel in self._lead_channels.items():
            try:
                await self._tell_server(server, channel, moment)
            except RejoinderError as error:
                log.warning("The leads of %s server %s can't be told of escalations: %s",
                            self._board.surface, server, error)  # fmt: skip

    async def _tell_server(self, server: str, channel: str, moment: datetime) -> None:
        where = (self._board.surface, server, channel)
        last = await self._ledger.cards.find_notice(*where, NOTICE_TOPIC)
        last_id = max(last.last_id or 0 if last else 0, self._looked_at.get(server, 0))
        escalations = await self._ledger.history.escalations(last_id, moment - ESCALATED_FOR)
        own = [change for change in escalations if await self._belongs(server, change.case_key)]
        if own:
            open_notice = last if last is not None and moment - last.since < self._window else None
            since = open_notice.since if open_notice else moment
            count = len(own) + (open_notice.count if open_notice else 0)
            text = await self._notice_text(server, own, count, moment - since)
            message = await self._board.announce(server, channel, text, open_notice.message if open_notice else None)
            await self._ledger.cards.record_notice(
                Notice(*where, NOTICE_TOPIC, message, count, since, moment, own[-1].id)
            )
        if escalations:
            self._looked_at[server] = escalations[-1].id

    async def _belongs(self, server: str, key: str) -> bool:
        case = await self._ledger.cases.get(key)
        return channel_for(self._servers[server], case.post, case.triage) is not None

    async def _notice_text(self, server: str, escalations: Sequence[Transition], count: int, length: timedelta) -> str:
        newest = escalations[-1]
        number = await self._ledger.cards.number_of(newest.case_key)
        with speaking(self._languages.of_server(server)):
            return escalation_text(count, newest.why, number, length)


def escalation_text(count: int, why: str, number: int, length: timedelta) -> str:
    """Return how many posts were escalated, why the newest one was, and how to open it."""
    reason = translate_stored(why).partition(":")[0].rstrip(".") or _("No reason was noted")
    words = {"reason": reason, "command": f"/rejoinder case {number}"}
    if count == 1 or length < timedelta(seconds=1):
        return ngettext(
            "{n} post was escalated. {reason}. Open it with {command}",
            "{n} posts were escalated. The newest: {reason}. Open it with {command}", count, **words,
        )  # fmt: skip
    return _(
        "{n} posts were escalated within {time}. The newest: {reason}. Open it with {command}",
        n=count, time=duration(length), **words,
    )  # fmt: skip


async def _next_escalation(changes: Subscription[Transition]) -> None:
    """Wait for the next escalation, or for a loss of changes that may have included one."""
    while (change := await changes.next()) is not None and not _is_escalation(change):
        pass


def _is_escalation(change: Transition) -> bool:
    return change.to_state is CaseState.ESCALATED is not change.from_state
