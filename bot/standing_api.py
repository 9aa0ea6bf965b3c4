"""Lasting settings over HTTP: intents, paused channels, muted sources, one's hidden groups."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

from aiohttp import web
from pydantic import BaseModel, FailFast, Field

from bot.auth import Auth
from bot.chat.routing import channels
from bot.intent_scopes import DESK, scope
from bot.permissions import Moderator, require_lead
from bot.request_body import read_body
from bot.surroundings import Surroundings
from bot.translation import _
from core.domain import Intent, TargetGroup, Text, now
from core.errors import BadInput
from ledger.moderator_settings import ModeratorSettings, ScopeKind, SwitchKind

LONGEST_H = 24 * 365


class _IntentBody(BaseModel):
    """The intent of new drafts for a group, a language, or (`server`) everything; None clears it."""

    kind: Literal[ScopeKind.GROUP, ScopeKind.LANGUAGE, ScopeKind.SERVER]
    scope: Annotated[Text, Field(max_length=100)] = ""
    intent: Intent | None


class _SwitchBody(BaseModel):
    """A chat's channel to pause, or a platform to mute there, for some hours or for good; or to resume again."""

    surface: str
    server: str
    kind: SwitchKind
    scope: Annotated[Text, Field(min_length=1, max_length=200)]
    on: bool
    hours: Annotated[float, Field(gt=0, le=LONGEST_H)] | None = None


class _HiddenBody(BaseModel):
    """The groups that somebody does not want to see."""

    groups: Annotated[frozenset[TargetGroup], FailFast()]


class StandingApi:
    """The routes for lasting settings."""

    def __init__(self, settings: ModeratorSettings, surroundings: Surroundings, auth: Auth) -> None:
        self._settings = settings
        self._chats = surroundings.chats
        self._auth = auth

    def add_routes(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/v1/standing", self._show)
        app.router.add_post("/v1/standing/intents", self._set_intent)
        app.router.add_post("/v1/standing/pauses", self._switch)
        app.router.add_get("/v1/hidden-groups", self._hidden)
        app.router.add_put("/v1/hidden-groups", self._hide)

    async def _show(self, request: web.Request) -> web.Response:
        await self._auth.moderator(request)
        return await self._standing()

    async def _set_intent(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        require_lead(who, _("set an intent"))
        body = await read_body(request, _IntentBody)
        where = scope(body.kind, body.scope)
        await self._settings.set_intent(DESK, DESK, body.kind, where, body.intent, who.name)
        return await self._standing()

    async def _switch(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        require_lead(who, _("pause a channel or mute a source"))
        body = await read_body(request, _SwitchBody)
        server = self._chats.get(body.surface, {}).get(body.server)
        if server is None or (body.kind is SwitchKind.PAUSED and body.scope not in channels(server)):
            raise BadInput(_("There is no such server or channel in the settings of the chats; read /v1/standing."))
        until = now() + timedelta(hours=body.hours) if body.hours else None
        await self._settings.switch(body.surface, body.server, body.kind, body.scope, who.name, on=body.on, until=until)
        return await self._standing()

    async def _standing(self) -> web.Response:
        switched = await self._settings.switched()
        paused = {(item.surface, item.server, item.scope): item for item in switched if item.kind is SwitchKind.PAUSED}
        rooms: list[dict[str, Any]] = []
        for surface, servers in self._chats.items():
            for name, server in servers.items():
                for channel in channels(server):
                    item = paused.get((surface, name, channel))
                    rooms.append({
                        "surface": surface, "server": name, "channel": channel,
                        "paused_by": item.who if item else None,
                        "until": item.until.isoformat() if item and item.until else None,
                    })  # fmt: skip
        return web.json_response({
            "intents": [
                vars(item) | {"at": item.at.isoformat()}
                for item in await self._settings.intents()
            ],
            "channels": rooms,
            "muted": [
                {"surface": item.surface, "server": item.server, "platform": item.scope, "who": item.who}
                for item in switched
                if item.kind is SwitchKind.MUTED
            ],
        })  # fmt: skip

    async def _hidden(self, request: web.Request) -> web.Response:
        return await self._hidden_of(await self._auth.moderator(request))

    async def _hide(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        body = await read_body(request, _HiddenBody)
        for group in body.groups ^ await self._settings.hidden(who.name):
            await self._settings.hide(who.name, group, hidden=group in body.groups)
        return await self._hidden_of(who)

    async def _hidden_of(self, who: Moderator) -> web.Response:
        return web.json_response({"groups": sorted(await self._settings.hidden(who.name))})
