"""A clock that a test sets."""

from __future__ import annotations

import asyncio


class TurnedClock:
    """A clock whose sleeps return at once and advance it; `slept` lists them."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._turned = 0.0

    def monotonic(self) -> float:
        return sum(self.slept) + self._turned

    def turn(self, seconds: float) -> None:
        """Let time pass without a sleep."""
        self._turned += seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)
