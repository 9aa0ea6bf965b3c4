"""A clock that a test turns."""

from __future__ import annotations

import asyncio


class TurnedClock:
    """A clock whose sleeps pass at once; `slept` lists them."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._turned = 0.0

    def monotonic(self) -> float:
        return sum(self.slept) + self._turned

    def turn(self, seconds: float) -> None:
        """Let time pass with nobody asleep."""
        self._turned += seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)
