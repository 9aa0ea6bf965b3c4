"""The connection to SQLite or PostgreSQL: how transactions begin, what survives, which errors come out.

**What survives a power loss.** A writer says whether its commit must be on disk when the call returns (`durable`).
Everything somebody was told about is: received posts, moderators' decisions, and every step of the outbox around a
send. A stage's own move (triage, ground, draft) is not, on SQLite: losing it only sends the case back a stage, and the
sweeper runs that stage again. SQLite then skips one fsync (`synchronous=NORMAL`; in WAL mode the next durable commit
also carries all earlier ones: https://www.sqlite.org/pragma.html#pragma_synchronous). PostgreSQL always syncs.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import asyncpg
from sqlalchemy import URL, Connection, Table, event, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import QueuePool

from core.domain import now
from core.errors import BadSettings, LedgerUnavailable
from core.private_files import keep_private
from ledger import sqlite_trips

BUSY_S = 15.0
"""Seconds a SQLite writer waits for another process's transaction."""
CONNECT_S = 10.0
COMMAND_S = 30.0
CLOSE_S = 10.0
UNDEFINED_TABLE = "42P01"

_FORMS = "sqlite+aiosqlite:///file.db or postgresql+asyncpg://user:password@host/name"
_MODE = "ledger_mode"
_SINGLE = "single"
CHAIN_KEY = "ledger_chain_key"
"""The option of a connection that holds the key of the history's chain."""
_PRAGMAS = ("foreign_keys=ON", "synchronous=NORMAL", "journal_size_limit=67108864")


class Database:
    """One engine that gives out connections inside a transaction. `clock` tells the time.

    `chain_key` travels with every connection, for the chain of the history (`ledger.chain`).
    """

    def __init__(self, url: str, clock: Callable[[], datetime] = now, chain_key: bytes = b"") -> None:
        self.clock = clock
        self._url = _checked(url)
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        engine = _sqlite_engine(self._url) if self.is_sqlite else _postgres_engine(self._url)
        engine = engine.execution_options(**{CHAIN_KEY: chain_key})
        self._engine: AsyncEngine = engine
        # One snapshot for a case and its drafts: SQLite has it anyway, PostgreSQL when asked.
        self._readers = engine if self.is_sqlite else engine.execution_options(isolation_level="REPEATABLE READ")
        # A statement alone sees one snapshot anyway, and needs neither beginning nor end.
        self._single = engine.execution_options(**{_MODE: _SINGLE}) if self.is_sqlite else self._readers
        self._durable = engine.execution_options(**{_MODE: "FULL"})
        self._quick = engine.execution_options(**{_MODE: "NORMAL"})
        # SQLite takes one writer at a time; queueing here is fair and spares its busy-wait.
        self._turn: AbstractAsyncContextManager[Any] = asyncio.Lock() if self.is_sqlite else nullcontext()

    @asynccontextmanager
    async def read(self, *, single: bool = False) -> AsyncIterator[AsyncConnection]:
        """Open a read transaction with one snapshot, for a `single` statement or many; raises LedgerUnavailable."""
        with self._translated():
            async with (self._single if single else self._readers).connect() as connection:
                yield connection

    @asynccontextmanager
    async def write(self, *, durable: bool = True) -> AsyncIterator[AsyncConnection]:
        """Open a write transaction, committed at the end unless the body raises; raises LedgerUnavailable."""
        engine = self._durable if durable else self._quick
        with self._translated():
            async with self._turn, engine.begin() as connection:
                yield connection

    async def open(self) -> None:
        """Make sure the database answers; raises LedgerUnavailable."""
        if self.is_sqlite:
            # When a file can't be opened, aiosqlite leaves a thread behind that prints a traceback at exit.
            with self._translated():
                await asyncio.to_thread(_try_file, str(self._url.database))
        await self.ping()

    async def ping(self) -> None:
        """Ask the database for an answer; raises LedgerUnavailable."""
        async with self.read() as connection:
            await connection.execute(text("SELECT 1"))

    async def overwrite(self) -> None:
        """Let what was deleted go from SQLite's log too, as far as no reader needs it; nothing to do on PostgreSQL.

        Raises LedgerUnavailable.
        """
        if self.is_sqlite:
            with self._translated():
                await asyncio.to_thread(_empty_log, str(self._url.database))

    async def close(self) -> None:
        """Close every connection; wait up to `CLOSE_S` seconds for those in use, which the pool would never close."""
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S), self._turn:
                pool = self._engine.pool
                assert isinstance(pool, QueuePool)
                # Looked at again and again: nobody is told of a connection that was given up while it was opened.
                while pool.checkedout():  # noqa: ASYNC110
                    await asyncio.sleep(0.005)
        await self._engine.dispose()

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
        where = self._url.render_as_string(hide_password=True)
        reason = str(error) or type(error).__name__
        return LedgerUnavailable(f"the ledger at {where} did not do its work: {reason}; try again later")


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


def _postgres_engine(url: URL) -> AsyncEngine:
    return create_async_engine(
        url, hide_parameters=True, pool_pre_ping=True, connect_args={"timeout": CONNECT_S, "command_timeout": COMMAND_S}
    )


def _sqlite_engine(url: URL) -> AsyncEngine:
    # Hidden, because an error's text goes into logs and dead letters, and the parameters are people's posts.
    engine = create_async_engine(
        url, hide_parameters=True, connect_args={"timeout": BUSY_S, "async_creator_fn": sqlite_trips.connect}
    )
    event.listen(engine.sync_engine, "connect", _set_up_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _try_file(file: str) -> None:
    # Made here, because SQLite gives a new file the umask's mode; its journals take after it.
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    for path in (file, f"{file}-wal", f"{file}-shm"):
        keep_private(Path(path))
    sqlite3.connect(file).close()


def _empty_log(file: str) -> None:
    with closing(sqlite3.connect(file, timeout=BUSY_S)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _set_up_sqlite(connection: Any, record: Any) -> None:
    # The driver would open transactions by its own rules, too late and never IMMEDIATE.
    connection.isolation_level = None
    # SQLite's own lower() knows ASCII only.
    connection.create_function("small", 1, lambda text: None if text is None else text.lower(), deterministic=True)
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode")
    if cursor.fetchone()[0] != "wal":
        cursor.execute("PRAGMA journal_mode=WAL")
    for pragma in _PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
    record.info["synchronous"] = "NORMAL"


def _begin_sqlite(connection: Connection) -> None:
    mode = connection.get_execution_options().get(_MODE)
    if mode == _SINGLE:
        return
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite_trips.OneTripConnection)
    if mode is None:
        driver.begin_with("BEGIN")
        return
    if connection.info["synchronous"] != mode:
        connection.exec_driver_sql(f"PRAGMA synchronous={mode}")
        connection.info["synchronous"] = mode
    # A writer that reads first and locks later can find its snapshot stale and fail; so lock first.
    driver.begin_with("BEGIN IMMEDIATE")
