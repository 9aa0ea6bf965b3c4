"""Detect a worker that hangs silently, so that its supervisor can restart it.

Faust's consumer can die without an error (faust-streaming issues 175, 523, 532, 629). A worker counts as alive while it
processes a message (unless that takes longer than models may), just after it, or when a probe of the broker shows that
no message is waiting for it.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from core.retry import SYSTEM_CLOCK, Clock

log = logging.getLogger(__name__)


class Liveness:
    """The time since a worker's last sign of life, in seconds of the monotonic clock.

    Work on one message counts as silence once it has lasted for `longest_work_s`. `gave_up` tells whether `watch` has
    found the worker dead.
    """

    def __init__(self, limit_s: float, clock: Clock = SYSTEM_CLOCK, longest_work_s: float = math.inf) -> None:
        self._limit_s = limit_s
        self._longest_work_s = longest_work_s
        self._clock = clock
        self._last = clock.monotonic()
        self._working: dict[object, tuple[float, str]] = {}
        self._tell_from = 0.0, limit_s
        self.gave_up = False

    def note_activity(self) -> None:
        """Record a sign of life."""
        self._last = self._clock.monotonic()

    @contextmanager
    def working(self, place: str) -> Iterator[None]:
        """Count the worker as alive during the body, which processes the message at `place`."""
        work = object()
        self._working[work] = self._clock.monotonic(), place
        try:
            yield
        finally:
            del self._working[work]
            self.note_activity()

    @property
    def silent_s(self) -> float:
        """Return the seconds since the last sign of life."""
        if not self._working:
            return self._clock.monotonic() - self._last
        begun, _ = min(self._working.values())
        return max(0.0, self._clock.monotonic() - begun - self._longest_work_s)

    @property
    def dead(self) -> bool:
        """Tell whether the silence exceeds the limit."""
        return self.silent_s > self._limit_s

    async def watch(self, idle: Callable[[], Awaitable[bool]], every_s: float) -> None:
        """Probe until the worker is dead, then return. `idle` is True if the broker answers and no message waits."""
        while not self.dead:
            await self._clock.sleep(every_s)
            if self._working:
                self._tell_of_long_work()
            elif await self._answers(idle):
                self.note_activity()
        self.gave_up = True
        if self._working:
            place, lasted_s = self._longest_work()
            log.error("%s has been worked on for %.0f s; giving up so that this worker is restarted", place, lasted_s)
        else:
            log.error(
                "no event and no successful poll for %.0f s; giving up so that this worker is restarted", self.silent_s
            )

    def work_s(self) -> float:
        """Return for how many seconds the message that takes longest has been worked on; 0 without one."""
        return self._longest_work()[1] if self._working else 0.0

    def _longest_work(self) -> tuple[str, float]:
        begun, place = min(self._working.values())
        return place, self._clock.monotonic() - begun

    def _tell_of_long_work(self) -> None:
        """Warn of a message that is worked on for longer than the limit, again whenever that time has doubled."""
        begun, _ = min(self._working.values())
        place, lasted_s = self._longest_work()
        told_of, told_from_s = self._tell_from
        if lasted_s > (told_from_s if told_of == begun else self._limit_s):
            ends_s = self._longest_work_s + self._limit_s
            log.warning("%s has been worked on for %.0f s; this worker is restarted at %.0f s", place, lasted_s, ends_s)
            self._tell_from = begun, 2 * lasted_s

    async def _answers(self, idle: Callable[[], Awaitable[bool]]) -> bool:
        """Probe once. A probe that exceeds the limit is cancelled but not awaited: the cancellation may hang too."""
        probe = asyncio.ensure_future(idle())
        try:
            await asyncio.wait({probe}, timeout=self._limit_s)
            return probe.done() and probe.result()
        finally:
            probe.cancel()
