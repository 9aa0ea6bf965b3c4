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

    def open(self, token: str) -> tuple[Caller, str] | None:
        """Return whose token this is and a cookie value for them, or None."""
        who = self._tokens.bearer(token)
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


class Throttle:
    """The failed tries of each address, forgotten after `window_s` seconds."""

    def __init__(
        self, max_tries: int = 10, window_s: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_tries = max_tries
        self._window_s = window_s
        self._clock = clock
        self._failures: dict[str, list[float]] = {}

    def wait_s(self, address: str) -> float:
        """Return the seconds this address must wait before its next try; 0 when it may try now."""
        recent = self._recent(address)
        return 0.0 if len(recent) < self._max_tries else recent[0] + self._window_s - self._clock()

    def failed(self, address: str) -> None:
        """Count a failed try."""
        self._failures = {known: recent for known in self._failures if (recent := self._recent(known))}
        self._failures.setdefault(address, []).append(self._clock())

    def _recent(self, address: str) -> list[float]:
        since = self._clock() - self._window_s
        return [moment for moment in self._failures.get(address, []) if moment > since]
