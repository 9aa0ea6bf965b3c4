"""Browser sessions: a signed cookie in place of the token. Nothing is stored, so a restart logs nobody out.

The signature's key is derived from the caller's token (HMAC-SHA256, RFC 2104): who changes a token ends its sessions.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable

from core.tokens import Caller, TokenTable

COOKIE = "rejoinder_session"
LIFETIME_S = 12 * 3600


class Sessions:
    """The issue and the check of session cookies. `clock` gives the time in seconds since 1970."""

    def __init__(self, tokens: TokenTable, clock: Callable[[], float] = time.time) -> None:
        self._tokens = tokens
        self._clock = clock

    def open(self, token: str, address: str) -> tuple[Caller, str] | None:
        """Return whose token this is and a cookie value for them, or None; raises TooManyRequests."""
        who = self._tokens.bearer(token, address)
        if who is None:
            return None
        name = base64.urlsafe_b64encode(who.name.encode()).decode()
        content = f"{name}.{int(self._clock()) + LIFETIME_S}"
        return who, f"{content}.{_sign(token, content)}"

    def caller(self, cookie: str | None) -> Caller | None:
        """Return whose session this cookie value is, or None when it is forged, foreign or over."""
        content, _, signature = (cookie or "").rpartition(".")
        name, _, expiry = content.partition(".")
        try:
            owner = self._tokens.named(base64.urlsafe_b64decode(name).decode())
            expired = int(expiry) <= self._clock()
        except ValueError:
            return None
        if owner is None or expired:
            return None
        who, token = owner
        genuine = hmac.compare_digest(_sign(token, content).encode(), signature.encode(errors="replace"))
        return who if genuine else None


def _sign(token: str, content: str) -> str:
    key = hmac.new(token.encode(), b"rejoinder desk session", hashlib.sha256).digest()
    return hmac.new(key, content.encode(), hashlib.sha256).hexdigest()
