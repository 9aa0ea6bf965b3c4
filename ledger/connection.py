"""What the ledger's code runs statements on, whichever database it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection as SyncConnection
from sqlalchemy import CursorResult, Executable, Pool
from sqlalchemy.pool import QueuePool

R = TypeVar("R")


class Connection(Protocol):
    """A connection inside a transaction; SQLAlchemy's AsyncConnection is PostgreSQL's."""

    sync_connection: SyncConnection | None

    async def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement, once or for each of many sets of parameters."""

    async def run_sync(self, call: Callable[[SyncConnection], R], /) -> R:
        """Call a function that takes a synchronous connection."""


class OpenCalls:
    """What closing a database waits for: calls that have not ended, and connections taken from its pool."""

    def __init__(self, pool: Pool) -> None:
        assert isinstance(pool, QueuePool)
        self._pool = pool
        self._calls: set[asyncio.Future[Any] | Future[Any]] = set()

    def add(self, call: asyncio.Future[Any] | Future[Any]) -> None:
        """Count a call until it is done; it may have no connection yet."""
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def wait_until_done(self, within_s: float) -> None:
        """Wait until nothing is under way, or until the time is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                # Looked at again and again: nobody is told of a connection that was given up while it was opened.
                while self._calls or self._pool.checkedout():  # noqa: ASYNC110
                    await asyncio.sleep(0.005)


async def await_uninterrupted(work: asyncio.Future[R]) -> R:
    """Return what comes of `work`; a caller that is cancelled meanwhile waits until it is done.

    A transaction that was cut off under way was seen to leave a connection behind that held the write lock.
    """
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if not work.done():
            await asyncio.wait([work])
        if not work.cancelled():
            work.exception()
        raise
