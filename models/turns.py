"""Turns at the chat model: who may ask it now, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from core.errors import TooSlow


class Turns:
    """The turns at one chat model that strategies and judges share: `at_once` cases, each for up to `seconds`.

    None means no limit, for either. While a case waits here, neither its `seconds` nor its timeout in the server's
    queue runs.
    """

    def __init__(self, at_once: int | None, seconds: float | None) -> None:
        self._free: AbstractAsyncContextManager[None] = nullcontext()
        if at_once is not None:
            self._free = asyncio.Semaphore(at_once)
        self._seconds = seconds

    @asynccontextmanager
    async def turn(self, name: str, seconds: float | None = None) -> AsyncIterator[None]:
        """Wait for a turn and hold it for up to `seconds`, by default those of the object; raises TooSlow after that.

        `name` is what the error names as too slow.
        """
        limit = self._seconds if seconds is None else seconds
        async with self._free:
            try:
                async with asyncio.timeout(limit):
                    yield
            except TimeoutError:
                raise TooSlow(f"{name} took longer than {limit:g} s") from None
