"""Access to SQLite or PostgreSQL: how transactions begin, what survives a power loss, which errors are raised.

**What survives a power loss.** A writer states whether its commit must be on disk when the call returns (`durable`). So
it is with everything that others have been told about: received posts, moderators' decisions, and each step of the
outbox around a send. On SQLite, a stage's own move (triage, ground, draft) is not durable: losing it only returns the
case to the previous stage, and the sweeper runs the stage again. SQLite then skips one fsync (`synchronous=NORMAL`; in
WAL mode the next durable commit also covers all earlier ones: https://www.sqlite.org/pragma.html#pragma_synchronous).
PostgreSQL always syncs.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
from sqlalchemy import URL, Table, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from core.domain import now
from core.errors import BadSettings, EmptyLedger, LedgerUnavailable
from core.secrets import without_passwords
from ledger.connection import Connection
from ledger.postgres_engine import PostgresEngine
from ledger.sqlite_engine import SqliteEngine

CLOSE_S = 10.0
UNDEFINED_TABLE = "42P01"

_FORMS = "sqlite+aiosqlite:///file.db or postgresql+asyncpg://user:password@host/name"
CHAIN_KEY = "ledger_chain_key"
"""The connection option that holds the key of the history's chain."""

R = TypeVar("R")


class Database:
    """One engine that provides connections inside transactions; `clock` returns the current time.

    `chain_key` is attached to every connection, for the chain of the history (`ledger.chain`).
    """

    def __init__(self, url: str, clock: Callable[[], datetime] = now, chain_key: bytes = b"") -> None:
        self.clock = clock
        self._url = _checked(url)
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        options = {CHAIN_KEY: chain_key}
        self._engine: SqliteEngine | PostgresEngine = (
            SqliteEngine(self._url, options) if self.is_sqlite else PostgresEngine(self._url, options)
        )

    async def to_the_end(self, call: Coroutine[Any, Any, R]) -> R:
        """Run a ledger call to its end even if its caller is cancelled; on SQLite it must not await the event loop."""
        return await self._engine.to_the_end(call)

    @asynccontextmanager
    async def read(self, *, single: bool = False) -> AsyncIterator[Connection]:
        """Open a read transaction with one snapshot, for a `single` statement or many. Raises LedgerUnavailable."""
        with self._translated():
            async with self._engine.read(single=single) as connection:
                yield connection

    @asynccontextmanager
    async def write(self, *, durable: bool = True) -> AsyncIterator[Connection]:
        """Open a write transaction, committed unless the body raises. Raises LedgerUnavailable."""
        with self._translated():
            async with self._engine.write(durable=durable) as connection:
                yield connection

    @asynccontextmanager
    async def migrate(self) -> AsyncIterator[Connection]:
        """Open a write transaction like `write`, without a time limit for statements but a short one for locks."""
        with self._translated():
            async with self._engine.migrate() as connection:
                yield connection

    async def open(self, *, making: bool = True) -> None:
        """Check that the database answers. Raises LedgerUnavailable; EmptyLedger for a missing file unless `making`."""
        if not making and self.is_sqlite and not Path(str(self._url.database)).exists():
            raise EmptyLedger
        with self._translated():
            await self._engine.open()
        await self.to_the_end(self.ping())

    async def ping(self) -> None:
        """Check that the database answers. Raises LedgerUnavailable."""
        async with self.read() as connection:
            await connection.execute(text("SELECT 1"))

    async def overwrite(self) -> None:
        """Remove deleted data from SQLite's log as well, unless a reader still needs it; no effect on PostgreSQL.

        Raises LedgerUnavailable.
        """
        with self._translated():
            await self._engine.overwrite()

    async def close(self) -> None:
        """Close all connections, waiting up to `CLOSE_S` seconds for those in use and for calls in progress."""
        await self._engine.close(CLOSE_S)

    def insert_new(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """Return an INSERT for `table` that skips rows whose key exists."""
        if self.is_sqlite:
            return sqlite.insert(table).on_conflict_do_nothing()
        return postgresql.insert(table).on_conflict_do_nothing()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            if isinstance(error, IntegrityError | DataError) or _is_about_a_value(error):
                raise
            if isinstance(error, ProgrammingError) and getattr(error.orig, "sqlstate", "") != UNDEFINED_TABLE:
                raise
            raise self._unavailable(error.orig or error) from error
        except (OSError, PoolTimeout, sqlite3.Error, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: BaseException) -> LedgerUnavailable:
        where, reason = self._url.render_as_string(hide_password=True), str(error) or type(error).__name__
        complaint = f"the ledger at {where} did not do its work: {reason}; try again later"
        # The URL's query may contain a password too.
        return LedgerUnavailable(without_passwords(complaint))


def _is_about_a_value(error: DBAPIError) -> bool:
    """Tell whether PostgreSQL or its driver rejected a value; to SQLAlchemy it looks like a lost connection."""
    return isinstance(error.orig and error.orig.__cause__, asyncpg.DataError)


def _checked(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise BadSettings(f"ledger.url is not a database URL; use {_FORMS}") from error
    if parsed.drivername not in ("sqlite+aiosqlite", "postgresql+asyncpg"):
        raise BadSettings(f"ledger.url names the driver {parsed.drivername!r}; use {_FORMS}")
    if parsed.drivername.startswith("sqlite") and parsed.database in (None, "", ":memory:"):
        raise BadSettings("ledger.url names no file; several processes share the ledger, so it can't live in memory")
    return parsed
