"""Who is calling: a bearer token from programs, a session cookie from the browser.

A browser sends its cookie along with requests that another site provokes, so with a cookie every request that changes
something must also carry the header `X-Rejoinder`, which another site can't set (OWASP, "Cross-Site Request Forgery
Prevention": custom request headers).
"""

from __future__ import annotations

import math

from aiohttp import web
from pydantic import BaseModel, SecretStr, ValidationError

from bot.permissions import Moderator
from bot.sessions import COOKIE, LIFETIME_S, Sessions, Throttle
from core.errors import BadInput, Forbidden, Unauthenticated
from core.tokens import Caller, TokenTable

CSRF_HEADER = "X-Rejoinder"
_SAFE = ("GET", "HEAD")
_MAX_LOGIN_BYTES = 4_096


class _Login(BaseModel):
    token: SecretStr


class Auth:
    """Who a request comes from, and the login and logout of browsers."""

    def __init__(self, tokens: TokenTable, throttle: Throttle | None = None) -> None:
        self._tokens = tokens
        self._sessions = Sessions(tokens)
        self._throttle = throttle or Throttle()

    def add_routes(self, app: web.Application) -> None:
        """Add `/session`: POST logs in, GET says who is logged in, DELETE logs out."""
        app.router.add_post("/session", self._log_in)
        app.router.add_get("/session", self._who)
        app.router.add_delete("/session", self._log_out)

    def moderator(self, request: web.Request) -> Moderator:
        """Return which moderator is calling.

        Raises Unauthenticated, or Forbidden for a platform's token and for a cookie without the CSRF header.
        """
        who = self.caller(request)
        if who.role == "platform":
            raise Forbidden(f"The token of {who.name} may send flags, not see or decide cases; use a moderator's.")
        return Moderator(who.name, who.role)

    def caller(self, request: web.Request) -> Caller:
        """Return who is calling, a platform too; raises Unauthenticated, or Forbidden without the CSRF header."""
        header = request.headers.get("Authorization")
        if header is not None:
            who = self._tokens.caller(header)
            if who is None:
                raise Unauthenticated("The bearer token is not known here; check it, or ask an admin for one.")
            return who
        who = self._sessions.caller(request.cookies.get(COOKIE))
        if who is None:
            raise Unauthenticated("Nobody is logged in: send `Authorization: Bearer …`, or log in at the web desk.")
        if request.method not in _SAFE:
            _require_csrf_header(request)
        return who

    async def _log_in(self, request: web.Request) -> web.Response:
        _require_csrf_header(request)
        address = request.remote or ""
        wait_s = math.ceil(self._throttle.wait_s(address))
        if wait_s > 0:
            error = {"error": "too_many_tries", "message": f"Too many wrong tokens; try again in {wait_s} s."}
            return web.json_response(error, status=429, headers={"Retry-After": str(wait_s)})
        session = self._sessions.open(await _login_token(request))
        if session is None or session[0].role == "platform":
            self._throttle.failed(address)
            raise Unauthenticated("This token opens no desk; check it, or ask an admin for one.")
        who, cookie = session
        response = web.json_response({"name": who.name, "role": who.role})
        response.set_cookie(
            COOKIE, cookie, max_age=LIFETIME_S, path="/", httponly=True, samesite="Strict", secure=request.secure
        )
        return response

    async def _who(self, request: web.Request) -> web.Response:
        # The page asks this first: that nobody is logged in yet is an answer, not an error.
        try:
            who = self.moderator(request)
        except Unauthenticated:
            return web.json_response({"name": None, "role": None})
        return web.json_response({"name": who.name, "role": who.role})

    async def _log_out(self, request: web.Request) -> web.Response:
        _require_csrf_header(request)
        response = web.json_response({})
        response.del_cookie(COOKIE, path="/")
        return response


async def _login_token(request: web.Request) -> str:
    if (request.content_length or 0) > _MAX_LOGIN_BYTES:
        raise BadInput("This is too long for a login.")
    try:
        return _Login.model_validate_json(await request.read()).token.get_secret_value()
    except ValidationError:
        # Without the original: what was sent may hold a token, and the log shows causes.
        raise BadInput('A login is JSON: {"token": "…"}.') from None


def _require_csrf_header(request: web.Request) -> None:
    if CSRF_HEADER not in request.headers:
        raise Forbidden(f"The header {CSRF_HEADER} is missing, so this may come from another site's page.")
