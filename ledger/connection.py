"""The interface on which the ledger runs statements, for both databases."""

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
    """A connection inside a transaction; for PostgreSQL, SQLAlchemy's AsyncConnection."""

    sync_connection: SyncConnection | None

    async def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement, once or for each of many parameter sets."""

    async def run_sync(self, call: Callable[[SyncConnection], R], /) -> R:
        """Call a function that takes a synchronous connection."""


class OpenCalls:
    """What closing a database waits for: unfinished calls, and connections checked out of its pool."""

    def __init__(self, pool: Pool) -> None:
        assert isinstance(pool, QueuePool)
        self._pool = pool
        self._calls: set[asyncio.Future[Any] | Future[Any]] = set()

    def add(self, call: asyncio.Future[Any] | Future[Any]) -> None:
        """Track a call until it is done; it may not have a connection yet."""
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def wait_until_done(self, within_s: float) -> None:
        """Wait until nothing is in progress or `within_s` seconds have passed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                # Polled, because the pool gives no notice of a connection that was abandoned while opening.
                while self._calls or self._pool.checkedout():  # noqa: ASYNC110
                    await asyncio.sleep(0.005)


async def await_uninterrupted(work: asyncio.Future[R]) -> R:
    """Return the result of `work`; if the caller is cancelled, wait until the work is done first.

    A transaction interrupted midway has been seen to leave behind a connection that held the write lock.
    """
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if not work.done():
            await asyncio.wait([work])
        if not work.cancelled():
            work.exception()
        raise
