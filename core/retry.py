"""The one policy for trying again: waits that double up to a limit, counted from the failures in a row.

Loops that retry differ in what they do about a failure (give up, park a row, leave a host alone, start a child again),
so each keeps its own body; how long to wait is decided here, and on a clock that tests can turn.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from typing import Protocol

_MOST_DOUBLINGS = 64
"""Past this no wait that anybody configures still grows, and `2.0**1024` would overflow."""


class Clock(Protocol):
    """A source of time: the system's, or one that a test turns."""

    def monotonic(self) -> float:
        """Return seconds since some fixed moment; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""


class SystemClock:
    """The machine's own clock."""

    def monotonic(self) -> float:
        """Return `time.monotonic()`."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Sleep on the running event loop."""
        await asyncio.sleep(seconds)


SYSTEM_CLOCK = SystemClock()


@dataclass(frozen=True)
class Backoff:
    """Waits in seconds that double from `first_s` to `longest_s`; `jitter` spreads each by up to that share."""

    first_s: float
    longest_s: float
    jitter: float = 0.0

    def wait_s(self, failures: int) -> float:
        """Return the wait after `failures` failures in a row, counted from 1; any number is fine."""
        doublings = min(max(failures, 1) - 1, _MOST_DOUBLINGS)
        spread = random.uniform(1 - self.jitter, 1 + self.jitter)
        return min(self.first_s * 2.0**doublings, self.longest_s) * spread


class Retry:
    """The failures in a row of one activity, and the waits between its tries; `attempts` limits them, None does not."""

    def __init__(self, backoff: Backoff, clock: Clock = SYSTEM_CLOCK, attempts: int | None = None) -> None:
        self._backoff = backoff
        self._clock = clock
        self._attempts = attempts
        self._failures = 0

    @property
    def attempt(self) -> int:
        """Return which try is under way, counted from 1 since the last success."""
        return self._failures + 1

    @property
    def is_last_attempt(self) -> bool:
        """Tell whether the try under way is the last that `attempts` allows, or beyond it."""
        return self._attempts is not None and self.attempt >= self._attempts

    def next_wait_s(self) -> float:
        """Count a failure and return how long to wait before the next try."""
        self._failures += 1
        return self._backoff.wait_s(self._failures)

    async def wait(self, advised_s: float | None = None) -> None:
        """Count a failure and wait, for `advised_s` seconds where the other side said so."""
        wait_s = self.next_wait_s()
        await self._clock.sleep(wait_s if advised_s is None else advised_s)

    def succeeded(self) -> None:
        """Begin again with the shortest wait."""
        self._failures = 0

    def note_run(self, seconds: float) -> None:
        """Count something that ran before it ended as a success when it outlasted the longest wait."""
        if seconds > self._backoff.longest_s:
            self.succeeded()
