"""Refused decisions that may be overridden, or changed and sent again; kept for a while, in memory only."""

from __future__ import annotations

import secrets

from bot.chat.decision_dialogue import Refusal

MAX_KEPT = 1_000


class PendingOverrides:
    """The newest refusals, each under an unguessable token."""

    def __init__(self, max_kept: int = MAX_KEPT) -> None:
        self._max_kept = max_kept
        self._refusals: dict[str, Refusal] = {}

    def keep(self, refusal: Refusal) -> str:
        """Store a refusal and return its token."""
        while len(self._refusals) >= self._max_kept:
            del self._refusals[next(iter(self._refusals))]
        token = secrets.token_urlsafe(12)
        self._refusals[token] = refusal
        return token

    def get(self, token: str) -> Refusal | None:
        """Return a refusal, or None if it was dropped or stored before a restart."""
        return self._refusals.get(token)
