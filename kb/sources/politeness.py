"""Treat every host politely: obey its robots.txt, send one request at a time, heed its delays and refusals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from protego import Protego

from core.retry import SYSTEM_CLOCK, Backoff, Clock
from kb.sources.validation import Reason, Refusal

AGENT = "Rejoinder"
"""The name by which robots.txt files may address us."""

_BACKOFF = Backoff(first_s=2.0, longest_s=240.0)


@dataclass(frozen=True)
class Politeness:
    """How to treat a host: seconds between requests, tries, waits between them, limits on an answer.

    A host's own crawl delay counts if it is longer. A `Retry-After` of up to `longest_retry_after_s` is waited out
    within a run. After `max_refusals` in a row, each after all its tries, the host is left alone for the rest of the
    run.
    """

    interval_s: float = 1.0
    attempts: int = 4
    backoff: Backoff = _BACKOFF
    longest_retry_after_s: float = 600.0
    timeout_s: float = 180.0
    max_bytes: int = 128 * 1024 * 1024
    max_refusals: int = 3


@dataclass
class Host:
    """One host: when it may be asked next, what it allows, and whether it refuses everything."""

    name: str
    politeness: Politeness
    clock: Clock = SYSTEM_CLOCK
    rules: Protego | Refusal | None = None
    _interval_s: float = field(init=False)
    _next_at: float = 0.0
    _refusals: int = 0
    _why_closed: str = ""
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    reading_rules: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._interval_s = self.politeness.interval_s

    @asynccontextmanager
    async def wait_turn(self) -> AsyncIterator[None]:
        """Wait until the host may be asked again, or is closed; hold off all other requests to it meanwhile."""
        async with self._turn:
            # Another request's failure may delay the moment while this one waits.
            while not self._why_closed and (wait_s := self._next_at - self.clock.monotonic()) > 0:
                await self.clock.sleep(wait_s)
            self.pause(self._interval_s)
            yield

    def pause(self, seconds: float) -> None:
        """Request nothing for some seconds."""
        self._next_at = max(self._next_at, self.clock.monotonic() + seconds)

    def retry_after(self, seconds: float) -> None:
        """Heed a `Retry-After`: wait it out or, if it is too long, leave the host alone for this run."""
        if seconds > self.politeness.longest_retry_after_s:
            self._why_closed = f"asks to be left alone for {seconds:,.0f} s"
        else:
            self.pause(seconds)

    def set_rules(self, rules: Protego | Refusal) -> None:
        """Heed the host's robots.txt from now on, or the refusal received instead of it."""
        self.rules = rules
        if isinstance(rules, Refusal):
            return
        rate = rules.request_rate(AGENT)
        self._interval_s = max(
            self._interval_s, rules.crawl_delay(AGENT) or 0.0, rate.seconds / rate.requests if rate else 0.0
        )

    def refusal_of(self, url: str) -> Refusal | None:
        """Return why an address must not be requested; None if it may be."""
        if refusal := self.closed_refusal(url):
            return refusal
        if isinstance(self.rules, Refusal):
            return Refusal(self.rules.reason, url, f"its robots.txt can't be read: {self.rules.detail}")
        if self.rules is not None and not self.rules.can_fetch(url, AGENT):
            return Refusal(Reason.DISALLOWED, url, f"robots.txt of {self.name} forbids it")
        return None

    def closed_refusal(self, url: str) -> Refusal | None:
        """Return why the host is left alone for the rest of the run; None if it is not."""
        return Refusal(Reason.CLOSED, url, f"{self.name} {self._why_closed}") if self._why_closed else None

    def count_outcome(self, refusal: Refusal | None) -> None:
        """Count consecutive refusals that are the host's fault; any other outcome resets the count."""
        if refusal is None or not (refusal.reason.blames_host or refusal.reason.transient):
            self._refusals = 0
        elif refusal.reason is not Reason.CLOSED:
            self._refusals += 1
            if self._refusals >= self.politeness.max_refusals:
                self._why_closed = self._why_closed or f"refused {self._refusals} times in a row"
