"""In which language somebody in a chat is answered, and in which a server gets its cards and notices."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from bot.chat.people import desk_name
from bot.translation import SOURCE_LANGUAGE, offered
from core.errors import RejoinderError
from core.settings import ChatWorkspace
from ledger.moderator_settings import ModeratorSettings

PATIENCE_S = 0.5
"""Seconds to wait for the ledger to say what somebody has chosen: the chats want an answer within three."""


class Languages:
    """The languages of one chat's servers and people; `default` is the one of the settings."""

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
        self._chosen: dict[str, str | None] = {}

    def of_server(self, server: str) -> str:
        """Return the language of a server's cards and notices."""
        settings = self._servers.get(server)
        return (settings.language if settings else None) or self._default

    async def of_person(self, server: str, user: str, username: str, client: str | None = None) -> str:
        """Return the language to answer somebody in: the one they chose, else their client's, else the server's.

        While the ledger is slow or away, the choice it told last holds.
        """
        settings = self._servers.get(server)
        chosen = await self._choice(desk_name(settings, self._surface, user, username)) if settings else None
        return offered(chosen) or offered(client) or self.of_server(server)

    async def _choice(self, who: str) -> str | None:
        # A query of the ledger runs to its end even when cancelled, so a slow one is not waited for.
        asking = asyncio.ensure_future(self._settings.language(who))
        done, _ = await asyncio.wait({asking}, timeout=PATIENCE_S)
        if done:
            with suppress(RejoinderError):
                self._chosen[who] = asking.result()
        else:
            asking.add_done_callback(lambda late: late.cancelled() or late.exception())
        return self._chosen.get(who)
