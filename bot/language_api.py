"""The language of the desk's answers: the moderator's choice, else the browser's, else the setting.

The page is rendered in the language of whoever is logged in and stores it in a cookie, so that the requests of its
scripts, streams and images are answered in the same language. Programs, which have no cookie, use `Accept-Language`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from aiohttp import web
from pydantic import AfterValidator, BaseModel

from bot.auth import Auth
from bot.http_errors import Handler
from bot.request_body import read_body
from bot.translation import LANGUAGES, accepted, offered, speaking
from core.errors import RejoinderError
from ledger.moderator_settings import ModeratorSettings

COOKIE = "rejoinder_language"
_YEAR_S = 365 * 24 * 3600


def _known(language: str | None) -> str | None:
    if language is not None and language not in LANGUAGES:
        raise ValueError(f"is not offered; choose one of {', '.join(LANGUAGES)}, or null")
    return language


class _LanguageBody(BaseModel):
    """The language that somebody chooses; None leaves it to each browser and chat."""

    language: Annotated[str | None, AfterValidator(_known)]


class LanguageApi:
    """The routes for one's own language, and the language of every request."""

    def __init__(self, settings: ModeratorSettings, auth: Auth, default: str) -> None:
        self._settings = settings
        self._auth = auth
        self._default = default

    def add_routes(self, app: web.Application) -> None:
        """Add the routes, and make all others answer in the language of their request."""

        @web.middleware
        async def in_its_language(request: web.Request, handler: Handler) -> web.StreamResponse:
            with speaking(self._of_request(request)):
                return await handler(request)

        app.middlewares.append(in_its_language)
        app.router.add_get("/v1/language", self._show)
        app.router.add_put("/v1/language", self._choose)

    async def of_page(self, request: web.Request) -> str:
        """Return the language for the page; while the ledger is unavailable, the one used before."""
        with suppress(RejoinderError):
            who = await self._auth.moderator(request)
            return await self._settings.language(who.name) or self._of_browser(request)
        return self._of_request(request)

    def _of_request(self, request: web.Request) -> str:
        return offered(request.cookies.get(COOKIE)) or self._of_browser(request)

    def _of_browser(self, request: web.Request) -> str:
        return accepted(request.headers.get("Accept-Language", "")) or self._default

    async def _show(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        return web.json_response({"language": await self._settings.language(who.name)})

    async def _choose(self, request: web.Request) -> web.Response:
        who = await self._auth.moderator(request)
        body = await read_body(request, _LanguageBody)
        await self._settings.choose_language(who.name, body.language)
        return web.json_response({"language": body.language})


def remember_language(response: web.Response, request: web.Request, language: str) -> None:
    """Store the page's language in a cookie, so that the page's requests are answered in the same one."""
    response.set_cookie(
        COOKIE, language, max_age=_YEAR_S, path="/", httponly=True, samesite="Strict", secure=request.secure
    )
