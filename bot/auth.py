"""Authentication of requests: a bearer token from programs, a session cookie from browsers.

A browser also sends its cookie with requests that another site provokes. So a request with a cookie that changes
something must also carry the header `X-Rejoinder`, which another site can't set (OWASP, "Cross-Site Request Forgery
Prevention": custom request headers).

All tabs of a browser share one cookie. So the page says with each request whose name it shows, and a tab that was
opened before somebody else logged in is refused.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from aiohttp import web
from pydantic import BaseModel, SecretStr, ValidationError

from bot.permissions import LEADS, Moderator
from bot.sessions import COOKIE, LIFETIME_S, Sessions
from bot.translation import _
from core.errors import BadInput, Forbidden, Unauthenticated
from core.tokens import Caller, TokenTable
from ledger.sessions import OpenSessions

CSRF_HEADER = "X-Rejoinder"
SHOWN_NAME_HEADER = "X-Rejoinder-Name"
"""Names whom the page shows as logged in; percent-encoded, because a header can't carry every name."""
_SAFE = ("GET", "HEAD")
_MAX_LOGIN_BYTES = 4_096


class _Login(BaseModel):
    token: SecretStr


class Auth:
    """The identification of callers, and the login and logout of browsers."""

    def __init__(self, tokens: TokenTable, sessions: OpenSessions) -> None:
        self._tokens = tokens
        self._sessions = Sessions(tokens, sessions)
        self.open_sessions = sessions

    def add_routes(self, app: web.Application) -> None:
        """Add `/session`: POST logs in, GET tells who is logged in, DELETE logs out."""
        app.router.add_post("/session", self._log_in)
        app.router.add_get("/session", self._who)
        app.router.add_delete("/session", self._log_out)

    async def moderator(self, request: web.Request) -> Moderator:
        """Return the moderator who is calling.

        Raises Unauthenticated or TooManyRequests; Forbidden for a platform's or monitor's token, and for a cookie
        without the CSRF header.
        """
        who = await self.caller(request)
        if who.role == "platform" or who.role == "monitor":
            raise Forbidden(_("This token is a platform's or a monitor's and opens no cases; use a moderator's."))
        return Moderator(who.name, who.role)

    async def session(self, request: web.Request) -> str | None:
        """Return the id of a request's session, or None if it has a bearer token or no login."""
        login = await self._sessions.login(request.cookies.get(COOKIE))
        return login.session if login else None

    async def caller(self, request: web.Request) -> Caller:
        """Return the caller, of any role.

        Raises Unauthenticated, also if the page shows another name; TooManyRequests; Forbidden without CSRF header.
        """
        header = request.headers.get("Authorization")
        if header is not None:
            who = self._tokens.caller(header, request.remote or "")
            if who is None:
                raise Unauthenticated(_("The bearer token is not known here; check it, or ask an admin for one."))
            return who
        login = await self._sessions.login(request.cookies.get(COOKIE))
        if login is None:
            raise Unauthenticated(_("Nobody is logged in: send `Authorization: Bearer …`, or log in at the web desk."))
        if request.method not in _SAFE:
            _require_csrf_header(request)
        _require_shown_name(request, login.caller.name)
        return login.caller

    async def _log_in(self, request: web.Request) -> web.Response:
        _require_csrf_header(request)
        who = self._tokens.bearer(await _login_token(request), request.remote or "")
        if who is None or who.role in ("platform", "monitor"):
            raise Unauthenticated(_("This token opens no desk; check it, or ask an admin for one."))
        cookie = await self._sessions.open(who, request.headers.get("User-Agent", ""))
        if (replaced := await self.session(request)) is not None:
            await self._sessions.end(replaced)  # nobody could log it out: its cookie is overwritten
        response = web.json_response(_as_json(who))
        response.set_cookie(
            COOKIE, cookie, max_age=LIFETIME_S, path="/", httponly=True, samesite="Strict", secure=request.secure
        )
        return response

    async def _who(self, request: web.Request) -> web.Response:
        # The page asks this first, so "nobody is logged in yet" is a normal answer, not an error.
        try:
            who = await self.moderator(request)
        except Unauthenticated:
            return web.json_response({"name": None, "role": None, "leads": False})
        return web.json_response(_as_json(who))

    async def _log_out(self, request: web.Request) -> web.Response:
        _require_csrf_header(request)
        if (session := await self.session(request)) is not None:
            await self._sessions.end(session)
        response = web.json_response({})
        response.del_cookie(COOKIE, path="/")
        return response


async def _login_token(request: web.Request) -> str:
    if (request.content_length or 0) > _MAX_LOGIN_BYTES:
        raise BadInput(_("This is too long for a login."))
    try:
        return _Login.model_validate_json(await request.read()).token.get_secret_value()
    except ValidationError:
        # The original error is dropped: the request may contain a token, and the log shows causes.
        raise BadInput('A login is JSON: {"token": "…"}.') from None


def _as_json(who: Caller | Moderator) -> dict[str, Any]:
    return {"name": who.name, "role": who.role, "leads": who.role in LEADS}


def _require_csrf_header(request: web.Request) -> None:
    if CSRF_HEADER not in request.headers:
        raise Forbidden(f"The header {CSRF_HEADER} is missing, so this may come from another site's page.")


def _require_shown_name(request: web.Request, name: str) -> None:
    shown = unquote(request.headers.get(SHOWN_NAME_HEADER, name))
    if shown != name:
        raise Unauthenticated(
            _("{name} is logged in with this browser now, not {shown}. Log in again.", name=name, shown=shown)
        )
