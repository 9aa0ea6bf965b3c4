"""Browser sessions: a signed cookie in place of the token, valid while the ledger has the session open.

The signing key is derived from the caller's token (HMAC-SHA256, RFC 2104): changing a token ends its sessions, and
nobody can forge a cookie from the ledger's content. A restart logs nobody out.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.domain import now
from core.tokens import Caller, TokenTable
from ledger.sessions import OpenSession, OpenSessions

COOKIE = "rejoinder_session"
LIFETIME_S = 12 * 3600
_ID = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class Login:
    """A caller who is logged in with a browser, and their session's id."""

    caller: Caller
    session: str


class Sessions:
    """The issuing and checking of session cookies; `clock` returns the time."""

    def __init__(self, tokens: TokenTable, sessions: OpenSessions, clock: Callable[[], datetime] = now) -> None:
        self._tokens = tokens
        self._sessions = sessions
        self._clock = clock

    async def open(self, caller: Caller, browser: str) -> str:
        """Open a session and return its cookie."""
        opened = self._clock()
        id, until = secrets.token_hex(16), opened + timedelta(seconds=LIFETIME_S)
        await self._sessions.add(OpenSession(id, caller.name, opened, until, browser))
        return f"{id}.{_sign(self._secret(caller.name), id)}"

    async def login(self, cookie: str | None) -> Login | None:
        """Return the login of this cookie, or None if it is forged, unknown, ended or expired."""
        id, _, signature = (cookie or "").partition(".")
        session = await self._sessions.find(id) if _ID.fullmatch(id) else None
        owner = self._tokens.named(session.who) if session else None
        if owner is None or session is None or session.until <= self._clock():
            return None
        caller, token = owner
        genuine = hmac.compare_digest(_sign(token, id).encode(), signature.encode(errors="replace"))
        return Login(caller, id) if genuine else None

    async def end(self, id: str) -> None:
        """End a session, for every process that uses this ledger."""
        await self._sessions.end(id)

    def _secret(self, name: str) -> str:
        owner = self._tokens.named(name)
        assert owner is not None
        return owner[1]


def _sign(token: str, content: str) -> str:
    key = hmac.new(token.encode(), b"rejoinder desk session", hashlib.sha256).digest()
    return hmac.new(key, content.encode(), hashlib.sha256).hexdigest()
