"""Notice a worker that hangs in silence, so that its supervisor can restart it.

Faust's consumer can die without a word (faust-streaming issues 175, 523, 532, 629). A worker is alive while it
handles a message, has just handled one, or a probe of the broker found nothing it should be handling.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from core.retry import SYSTEM_CLOCK, Clock

log = logging.getLogger(__name__)


class Liveness:
    """The last sign of life of a worker. All times are seconds of the monotonic clock."""

    def __init__(self, limit_s: float, clock: Clock = SYSTEM_CLOCK) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._last = clock.monotonic()
        self._working = 0

    def note_activity(self) -> None:
        """Note a sign of life."""
        self._last = self._clock.monotonic()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count as alive while the body runs; each stage bounds its own work with timeouts."""
        self._working += 1
        try:
            yield
        finally:
            self._working -= 1
            self.note_activity()

    @property
    def silent_s(self) -> float:
        """Return for how long there has been no sign of life."""
        return 0.0 if self._working else self._clock.monotonic() - self._last

    @property
    def dead(self) -> bool:
        """Tell whether the silence is over the limit."""
        return self.silent_s > self._limit_s

    async def watch(self, idle: Callable[[], Awaitable[bool]], every_s: float) -> None:
        """Probe until the worker is dead, then return. `idle` says that the broker answers and nothing waits."""
        while not self.dead:
            await self._clock.sleep(every_s)
            if not self._working and await idle():
                self.note_activity()
        log.error(
            "no event and no successful poll for %.0f s; giving up so that this worker is restarted", self.silent_s
        )
