"""A clock that a test turns."""

from __future__ import annotations


class TurnedClock:
    """A clock whose sleeps pass at once; `slept` lists them."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
