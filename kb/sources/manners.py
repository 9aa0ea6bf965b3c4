"""Behave at every host: its robots.txt, one request at a time, never faster than it asks, never where it refuses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from protego import Protego

from kb.sources.challenge import Kind, Refusal

AGENT = "Rejoinder"
"""What robots.txt files may call us."""


@dataclass(frozen=True)
class Manners:
    """Say how to behave: seconds between requests to a host, tries, waits between them, limits on an answer.

    A host's own crawl delay counts where it is longer. `patience_s` is the longest `Retry-After` waited out within a
    run. After `walls` refusals in a row, each of them after all tries, the host is left alone for this run.
    """

    interval_s: float = 1.0
    attempts: int = 4
    backoff_s: float = 2.0
    backoff_max_s: float = 240.0
    patience_s: float = 600.0
    timeout_s: float = 180.0
    max_bytes: int = 128 * 1024 * 1024
    walls: int = 3

    def backoff(self, attempt: int) -> float:
        """Return the wait after failed try number `attempt`, from 0."""
        return float(min(self.backoff_s * 2**attempt, self.backoff_max_s))


@dataclass
class Host:
    """Be one host: when it may be asked next, what it allows, whether it refuses everything."""

    name: str
    manners: Manners
    rules: Protego | Refusal | None = None
    _interval_s: float = field(init=False)
    _next_at: float = 0.0
    _walls: int = 0
    _closed: str = ""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    reading_rules: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._interval_s = self.manners.interval_s

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until the host may be asked again, or is closed; nobody else asks it meanwhile."""
        async with self._turn:
            # Another request's failure may put the moment off while this one waits.
            while not self._closed and (wait_s := self._next_at - time.monotonic()) > 0:  # noqa: ASYNC110
                await asyncio.sleep(wait_s)
            self.hold(self._interval_s)
            yield

    def hold(self, seconds: float) -> None:
        """Ask nothing for some seconds."""
        self._next_at = max(self._next_at, time.monotonic() + seconds)

    def defer(self, seconds: float) -> None:
        """Obey a `Retry-After`: wait it out, or leave the host alone for this run where that takes too long."""
        if seconds > self.manners.patience_s:
            self._closed = f"asks to be left alone for {seconds:,.0f} s"
        else:
            self.hold(seconds)

    def obey(self, rules: Protego | Refusal) -> None:
        """Take in the host's robots.txt."""
        self.rules = rules
        if isinstance(rules, Refusal):
            return
        rate = rules.request_rate(AGENT)
        self._interval_s = max(
            self._interval_s, rules.crawl_delay(AGENT) or 0.0, rate.seconds / rate.requests if rate else 0.0
        )

    def forbids(self, url: str) -> Refusal | None:
        """Tell why an address must not be asked for, if so."""
        if refusal := self.closed(url):
            return refusal
        if isinstance(self.rules, Refusal):
            return Refusal(self.rules.kind, url, f"its robots.txt can't be read: {self.rules.detail}")
        if self.rules is not None and not self.rules.can_fetch(url, AGENT):
            return Refusal(Kind.DISALLOWED, url, f"robots.txt of {self.name} forbids it")
        return None

    def closed(self, url: str) -> Refusal | None:
        """Tell why the host is left alone for the rest of the run, if so."""
        return Refusal(Kind.CLOSED, url, f"{self.name} {self._closed}") if self._closed else None

    def note(self, refusal: Refusal | None) -> None:
        """Count refusals in a row that are the host's own doing; anything else ends the row."""
        if refusal is None or not (refusal.kind.wall or refusal.kind.transient):
            self._walls = 0
        elif refusal.kind is not Kind.CLOSED:
            self._walls += 1
            if self._walls >= self.manners.walls:
                self._closed = self._closed or f"refused {self._walls} times in a row"
