"""PostgreSQL, where statements are awaited on the event loop, which stays free for other work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from sqlalchemy import URL, NullPool, text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from ledger.connection import OpenCalls, await_uninterrupted

CONNECT_S = 10.0
COMMAND_S = 30.0
LOCK_S = 10.0
"""Seconds that a migration waits for a lock, because other processes' queries queue up behind it meanwhile."""

R = TypeVar("R")


class PostgresEngine:
    """The connections to a PostgreSQL database."""

    def __init__(self, url: URL, options: dict[str, Any]) -> None:
        self._url = url
        # Parameters are hidden because they contain people's posts, and error texts end up in logs and dead letters.
        self._writers = create_async_engine(
            url, hide_parameters=True, pool_pre_ping=True,
            connect_args={"timeout": CONNECT_S, "command_timeout": COMMAND_S},
        ).execution_options(**options)  # fmt: skip
        # Gives a case and its drafts one snapshot; SQLite does so by default.
        self._readers = self._writers.execution_options(isolation_level="REPEATABLE READ")
        self._open_calls = OpenCalls(self._writers.pool)

    async def to_the_end(self, call: Coroutine[Any, Any, R]) -> R:
        """Run a call to its end even if its caller is cancelled."""
        task = asyncio.ensure_future(call)
        self._open_calls.add(task)
        return await await_uninterrupted(task)

    @asynccontextmanager
    async def read(self, *, single: bool) -> AsyncIterator[AsyncConnection]:
        """Open a read transaction with one snapshot, for a `single` statement or many."""
        async with self._readers.connect() as connection:
            yield connection

    @asynccontextmanager
    async def write(self, *, durable: bool) -> AsyncIterator[AsyncConnection]:
        """Open a write transaction, committed unless the body raises; the server decides what is durable."""
        async with self._writers.begin() as connection:
            yield connection

    @asynccontextmanager
    async def migrate(self) -> AsyncIterator[AsyncConnection]:
        """Open a write transaction whose statements have no time limit, but wait for locks at most LOCK_S seconds.

        While one statement waits for a lock, all other queries on that table wait behind it.
        """
        engine = create_async_engine(
            self._url, hide_parameters=True, poolclass=NullPool, connect_args={"timeout": CONNECT_S}
        )
        try:
            async with engine.begin() as connection:
                await connection.execute(text("SET LOCAL statement_timeout = 0"))
                await connection.execute(text(f"SET LOCAL lock_timeout = {int(LOCK_S * 1000)}"))
                yield connection
        finally:
            await engine.dispose()

    async def open(self) -> None:
        """Do nothing: the first statement connects."""

    async def overwrite(self) -> None:
        """Do nothing: the server's log is outside our control."""

    async def close(self, within_s: float) -> None:
        """Close all connections after waiting for calls in progress, whose connections the pool would never close."""
        await self._open_calls.wait_until_done(within_s)
        await self._writers.dispose()
