"""The browsers that are logged in, and logging one out from elsewhere: `/v1/sessions`."""

from __future__ import annotations

from aiohttp import web

from bot.auth import Auth
from bot.translation import _
from core.errors import Forbidden
from ledger.sessions import OpenSessions


class SessionApi:
    """The routes that list and end sessions: one's own, and for leads and admins everybody's."""

    def __init__(self, sessions: OpenSessions, auth: Auth) -> None:
        self._sessions = sessions
        self._auth = auth

    def add_routes(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/v1/sessions", self._list)
        app.router.add_delete("/v1/sessions/{id:[0-9a-f]{32}}", self._end)

    async def _list(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        current = await self._auth.session(request)
        listed = [
            {
                "id": session.id,
                "who": session.who,
                "opened_at": session.opened_at.isoformat(),
                "until": session.until.isoformat(),
                "browser": session.browser,
                "this": session.id == current,
            }
            for session in await self._sessions.list(None if who.leads else who.name)
        ]
        return web.json_response({"sessions": listed})

    async def _end(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        session = await self._sessions.find(request.match_info["id"])
        if session is not None and session.who != who.name and not who.leads:
            raise Forbidden(_("Only a lead or an admin may end the sessions of others."))
        if session is not None:
            await self._sessions.end(session.id)
        return web.json_response({})
