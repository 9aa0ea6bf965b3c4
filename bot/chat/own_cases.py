"""The cases that each server or workspace gets by its rules; its people learn nothing about any others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.chat.routing import channel_for
from bot.desk import CaseQuery, Desk
from bot.translation import _
from core.domain import Case, clean
from core.errors import CaseNotFound
from core.settings import ChatWorkspace
from ledger.cards import Cards

PAGE = 200
MOST_PAGES = 20
"""Number of pages of the whole queue that are searched for a server's own cases."""


class OwnCases:
    """The cases of each server; those of other servers are treated as if they did not exist."""

    def __init__(self, desk: Desk, cards: Cards, servers: Mapping[str, ChatWorkspace]) -> None:
        self._desk = desk
        self._cards = cards
        self._servers = servers

    def includes(self, server: str, case: Case) -> bool:
        """Tell whether a case goes to one of the server's channels."""
        settings = self._servers.get(server)
        return settings is not None and channel_for(settings, case.post, case.triage) is not None

    def include_all(self, server: str) -> bool:
        """Tell whether all cases go to this server."""
        settings = self._servers.get(server)
        return settings is not None and settings.channel is not None

    async def by_number(self, server: str, number: int) -> Case:
        """Return the case with a short number. Raises CaseNotFound."""
        case = await self._desk.case(await self._cards.key_of(number))
        if not self.includes(server, case):
            raise CaseNotFound(_("There is no case number {number}; look it up in the queue.", number=str(number)))
        return case

    async def find(self, server: str, id: str) -> Case:
        """Return a case by its number or key. Raises CaseNotFound."""
        if id.isdecimal() and len(id) < 19:
            return await self.by_number(server, int(id))
        case = await self._desk.case(id)
        if not self.includes(server, case):
            raise CaseNotFound(_("There is no case {key}; look its key up in the queue.", key=clean(id)))
        return case

    async def list(self, server: str, query: CaseQuery, most: int = PAGE) -> list[Case]:
        """Return up to `most` of a server's cases, in the query's order."""
        own: list[Case] = []
        for _page in range(MOST_PAGES):
            page = await self._desk.queue(query)
            own += [case for case in page.cases if self.includes(server, case)]
            if len(own) >= most or page.next_cursor is None:
                break
            query = replace(query, cursor=page.next_cursor)
        return own[:most]
