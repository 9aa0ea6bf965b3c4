"""Decisions that were refused and may be sent again with an override: kept for a while, in memory only."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from core.domain import Decision

MOST = 1_000


@dataclass(frozen=True)
class Offer:
    """Hold a refused decision on a case."""

    key: str
    decision: Decision


class Offers:
    """Keep the newest offers, each under a token that nobody can guess."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._offers: dict[str, Offer] = {}

    def keep(self, offer: Offer) -> str:
        """Keep an offer and return its token."""
        while len(self._offers) >= self._most:
            del self._offers[next(iter(self._offers))]
        token = secrets.token_urlsafe(12)
        self._offers[token] = offer
        return token

    def get(self, token: str) -> Offer | None:
        """Return an offer; None when it was dropped, or kept before a restart."""
        return self._offers.get(token)
