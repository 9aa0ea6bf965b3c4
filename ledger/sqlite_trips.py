"""SQLite on a thread of its own, with one trip to it for each statement.

aiosqlite goes there and back for the cursor, the statement, its rows and the closing, and for the beginning of each
transaction; under load a trip takes a millisecond, and a writer holds up all others meanwhile.
"""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import Any, Self

import aiosqlite


class OneTripCursor:
    """The cursor of one statement at a time, in the form that SQLAlchemy's adapter for aiosqlite expects."""

    arraysize = 1
    description: Any = None
    rowcount = -1
    lastrowid: int | None = None

    def __init__(self, connection: OneTripConnection) -> None:
        self._connection = connection
        self._rows: list[Any] = []

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, statement: str, parameters: Any = ()) -> None:
        """Run a statement and fetch its rows."""
        await self._run(sqlite3.Cursor.execute, statement, parameters)

    async def executemany(self, statement: str, parameters: Any) -> None:
        """Run a statement once for each set of parameters."""
        await self._run(sqlite3.Cursor.executemany, statement, parameters)

    async def fetchall(self) -> list[Any]:
        """Return the rows that came with the statement."""
        return self._rows

    async def close(self) -> None:
        """Do nothing: the statement's own cursor is closed."""

    async def _run(self, run: Any, *arguments: Any) -> None:
        outcome = await self._connection.one_trip(run, *arguments)
        self.description, self.rowcount, self.lastrowid, self._rows = outcome


class OneTripConnection(aiosqlite.Connection):
    """A connection of aiosqlite whose statements take one trip to its thread, the first with what begins it."""

    _first: str | None = None

    def begin_with(self, statement: str) -> None:
        """Run `statement` on the way of the next one, or never if the transaction ends before there is one."""
        self._first = statement

    def cursor(self) -> OneTripCursor:  # type: ignore[override]
        """Return a cursor, at once."""
        return OneTripCursor(self)

    async def one_trip(self, run: Any, *arguments: Any) -> tuple[Any, int, int | None, list[Any]]:
        """Run a statement on the thread; return its columns, counts and rows."""
        execute: Any = self._execute  # untyped in aiosqlite
        first, self._first = self._first, None
        outcome: tuple[Any, int, int | None, list[Any]] = await execute(_run, self._conn, first, run, *arguments)
        return outcome

    async def commit(self) -> None:
        """Commit what is open."""
        self._first = None
        if self.in_transaction:
            await super().commit()

    async def rollback(self) -> None:
        """Roll back what is open; the pool asks for it whenever a connection is returned."""
        self._first = None
        if self.in_transaction:
            await super().rollback()


def _run(
    connection: sqlite3.Connection, first: str | None, run: Any, *arguments: Any
) -> tuple[Any, int, int | None, list[Any]]:
    cursor = connection.cursor()
    try:
        if first is not None:
            cursor.execute(first)
        run(cursor, *arguments)
        rows = cursor.fetchall() if cursor.description else []
        return cursor.description, cursor.rowcount, cursor.lastrowid, rows
    finally:
        cursor.close()


def connect(file: str, **options: Any) -> OneTripConnection:
    """Return a connection that opens when it is awaited; its thread does not keep the process alive."""
    connection = OneTripConnection(partial(sqlite3.connect, file, **options), iter_chunk_size=64)
    connection._thread.daemon = True
    return connection
