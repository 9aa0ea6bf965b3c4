"""The language in which a person in a chat is answered, and of each server's cards and notices.

People's choices are cached in memory, because the chats need an answer faster than a busy ledger provides one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from bot.chat.people import desk_name
from bot.translation import SOURCE_LANGUAGE, offered
from core.errors import Unavailable
from core.settings import ChatWorkspace
from ledger.moderator_settings import ModeratorSettings

REFRESH_S = 5.0


class Languages:
    """The languages of one chat's servers and people; `default` comes from the settings."""

    def __init__(
        self,
        surface: str,
        servers: Mapping[str, ChatWorkspace],
        settings: ModeratorSettings,
        default: str = SOURCE_LANGUAGE,
    ) -> None:
        self._surface = surface
        self._servers = servers
        self._settings = settings
        self._default = default
        self._chosen: Mapping[str, str] = {}

    async def run(self) -> None:
        """Refresh the choices made on the page and in other chats until cancelled."""
        while True:
            with suppress(Unavailable):
                await self.refresh()
            await asyncio.sleep(REFRESH_S)

    async def refresh(self) -> None:
        """Read everybody's choices from the ledger."""
        self._chosen = await self._settings.languages()

    def of_server(self, server: str) -> str:
        """Return the language of a server's cards and notices."""
        settings = self._servers.get(server)
        return (settings.language if settings else None) or self._default

    def of_person(self, server: str, user: str, username: str, client: str | None = None) -> str:
        """Return the language in which to answer somebody: their choice, else their client's, else the server's."""
        settings = self._servers.get(server)
        name = desk_name(settings, self._surface, user, username) if settings else ""
        return offered(self._chosen.get(name)) or offered(client) or self.of_server(server)

    async def choose(self, who: str, language: str | None) -> None:
        """Store somebody's choice of language; None leaves it to each client."""
        await self._settings.choose_language(who, language)
        await self.refresh()
