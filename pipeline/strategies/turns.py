"""Whose turn it is to ask the chat model, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.errors import TooSlow


class Turns:
    """The turns at one chat model that all strategies share: `at_once` cases, each for up to `seconds`; None: no limit.

    A case that waits here uses up neither that time nor its timeout in the server's queue.
    """

    def __init__(self, at_once: int, seconds: float | None) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._seconds = seconds

    @asynccontextmanager
    async def turn(self, strategy: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it; raises TooSlow when it lasts too long."""
        async with self._free:
            try:
                async with asyncio.timeout(self._seconds):
                    yield
            except TimeoutError:
                raise TooSlow(f"{strategy} took longer than {self._seconds:g} s") from None
