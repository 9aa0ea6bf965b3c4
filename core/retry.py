"""The one retry policy: waits double up to a limit, depending on the number of consecutive failures.

Loops that retry react differently to a failure (give up, park a row, skip a host, restart a child), so each keeps its
own body. Only the length of the wait is decided here, on a clock that tests can control.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from typing import Protocol

_MOST_DOUBLINGS = 64
"""Beyond this number no realistic wait still grows, and `2.0**1024` would overflow."""


class Clock(Protocol):
    """A source of time: the system's clock, or one that a test controls."""

    def monotonic(self) -> float:
        """Return seconds since an arbitrary fixed moment; the value never decreases."""

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`."""


class SystemClock:
    """The system's clock."""

    def monotonic(self) -> float:
        """Return `time.monotonic()`."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Sleep on the running event loop."""
        await asyncio.sleep(seconds)


SYSTEM_CLOCK = SystemClock()


@dataclass(frozen=True)
class Backoff:
    """Waits in seconds that double from `first_s` up to `longest_s`; `jitter` varies each by up to that share."""

    first_s: float
    longest_s: float
    jitter: float = 0.0

    def wait_s(self, failures: int) -> float:
        """Return the wait after `failures` consecutive failures, counted from 1; any number is allowed."""
        doublings = min(max(failures, 1) - 1, _MOST_DOUBLINGS)
        spread = random.uniform(1 - self.jitter, 1 + self.jitter)
        return min(self.first_s * 2.0**doublings, self.longest_s) * spread


class Retry:
    """The consecutive failures of one activity and the waits between its tries; `attempts` None means no limit."""

    def __init__(self, backoff: Backoff, clock: Clock = SYSTEM_CLOCK, attempts: int | None = None) -> None:
        self._backoff = backoff
        self._clock = clock
        self._attempts = attempts
        self._failures = 0

    @property
    def attempt(self) -> int:
        """Return the number of the current try, counted from 1 since the last success."""
        return self._failures + 1

    @property
    def is_last_attempt(self) -> bool:
        """Tell whether the current try is the last one that `attempts` allows, or beyond it."""
        return self._attempts is not None and self.attempt >= self._attempts

    def next_wait_s(self) -> float:
        """Count a failure and return how long to wait before the next try."""
        self._failures += 1
        return self._backoff.wait_s(self._failures)

    async def wait(self, advised_s: float | None = None) -> None:
        """Count a failure and wait; `advised_s` is the wait that the other side requested, if any."""
        wait_s = self.next_wait_s()
        await self._clock.sleep(wait_s if advised_s is None else advised_s)

    def succeeded(self) -> None:
        """Reset the count of failures, so that the next wait is the shortest again."""
        self._failures = 0

    def note_run(self, seconds: float) -> None:
        """Count a run as a success if it lasted longer than the longest wait."""
        if seconds > self._backoff.longest_s:
            self.succeeded()
