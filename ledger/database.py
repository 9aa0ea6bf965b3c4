"""The connection to SQLite or PostgreSQL: how transactions begin, what survives, which errors come out.

**What survives a power loss.** A writer says whether its commit must be on disk when the call returns (`durable`).
Everything somebody was told about is: received posts, moderators' decisions, and every step of the outbox around a
send. A stage's own move (triage, ground, draft) is not, on SQLite: losing it only sends the case back a stage, and the
sweeper runs that stage again. SQLite then skips one fsync (`synchronous=NORMAL`; in WAL mode the next durable commit
also carries all earlier ones: https://www.sqlite.org/pragma.html#pragma_synchronous). PostgreSQL always syncs.
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
"""The option of a connection that holds the key of the history's chain."""

R = TypeVar("R")


class Database:
    """One engine that gives out connections inside a transaction. `clock` tells the time.

    `chain_key` travels with every connection, for the chain of the history (`ledger.chain`).
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
        """Run a call of the ledger to its end although its caller is cancelled; on SQLite it may wait for no event."""
        return await self._engine.to_the_end(call)

    @asynccontextmanager
    async def read(self, *, single: bool = False) -> AsyncIterator[Connection]:
        """Open a read transaction with one snapshot, for a `single` statement or many; raises LedgerUnavailable."""
        with self._translated():
            async with self._engine.read(single=single) as connection:
                yield connection

    @asynccontextmanager
    async def write(self, *, durable: bool = True) -> AsyncIterator[Connection]:
        """Open a write transaction, committed at the end unless the body raises; raises LedgerUnavailable."""
        with self._translated():
            async with self._engine.write(durable=durable) as connection:
                yield connection

    @asynccontextmanager
    async def migrate(self) -> AsyncIterator[Connection]:
        """Open a write transaction, as `write`, whose statements may take as long as they need, but not wait long."""
        with self._translated():
            async with self._engine.migrate() as connection:
                yield connection

    async def open(self, *, making: bool = True) -> None:
        """Make sure the database answers, `making` a missing file; raises LedgerUnavailable, or EmptyLedger for it."""
        if not making and self.is_sqlite and not Path(str(self._url.database)).exists():
            raise EmptyLedger
        with self._translated():
            await self._engine.open()
        await self.to_the_end(self.ping())

    async def ping(self) -> None:
        """Ask the database for an answer; raises LedgerUnavailable."""
        async with self.read() as connection:
            await connection.execute(text("SELECT 1"))

    async def overwrite(self) -> None:
        """Let what was deleted go from SQLite's log too, as far as no reader needs it; nothing to do on PostgreSQL.

        Raises LedgerUnavailable.
        """
        with self._translated():
            await self._engine.overwrite()

    async def close(self) -> None:
        """Close every connection; wait up to `CLOSE_S` seconds for those in use and for the calls under way."""
        await self._engine.close(CLOSE_S)

    def insert_new(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """Return an INSERT for `table` that passes over rows whose key exists."""
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
        # A password may also stand in the URL's query.
        return LedgerUnavailable(without_passwords(complaint))


def _is_about_a_value(error: DBAPIError) -> bool:
    """Tell whether PostgreSQL or its driver refused a value; SQLAlchemy does not tell that from a lost connection."""
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
