"""SQLite, where a whole ledger call runs on one thread without awaiting the event loop.

A statement takes SQLite a tenth of a millisecond; switching to another thread and back takes as long again, and a
millisecond under load. So a call's whole coroutine runs on a thread, and everything it awaits completes immediately.
Only a write that finds another write in progress leaves its thread to readers and continues on the writers' thread.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
import types
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, CursorResult, Executable, create_engine, event
from sqlalchemy.pool import QueuePool

from core.errors import LedgerUnavailable
from core.private_files import keep_private
from ledger.connection import OpenCalls, await_uninterrupted

BUSY_S = 15.0
"""Seconds that a writer waits for other writers, in this process and others."""
THREADS = 16
"""Number of threads, and so of concurrent calls; writers wait for their turn on one of them."""

_PRAGMAS = ("foreign_keys=ON", "synchronous=NORMAL", "journal_size_limit=67108864")

_WAITING_FOR_TURN = object()
"""What a call yields to be continued on the writers' thread."""

R = TypeVar("R")


class DirectConnection:
    """A connection with the interface of SQLAlchemy's asynchronous one, whose statements complete immediately."""

    def __init__(self, sync_connection: Connection) -> None:
        self.sync_connection: Connection | None = sync_connection
        self._connection = sync_connection

    async def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement."""
        return self._connection.execute(statement, parameters)

    async def run_sync(self, call: Callable[[Connection], R], /) -> R:
        """Call a function with the synchronous connection."""
        return call(self._connection)


class SqliteEngine:
    """The connections to a SQLite file, and the threads on which ledger calls run."""

    def __init__(self, url: URL, options: dict[str, Any]) -> None:
        self._file = str(url.database)
        # Parameters are hidden because they contain people's posts, and error texts end up in logs and dead letters.
        self._engine = create_engine(
            url.set(drivername="sqlite+pysqlite"), hide_parameters=True, execution_options=options,
            poolclass=QueuePool, pool_size=THREADS, pool_use_lifo=True,
            connect_args={"timeout": BUSY_S, "check_same_thread": False},
        )  # fmt: skip
        event.listen(self._engine.pool, "connect", _set_up)
        # SQLite allows one writer at a time; queueing here avoids its busy-wait.
        self._write_lock = threading.Lock()
        self._writing_thread: int | None = None
        self._this_thread = threading.local()
        self._threads = ThreadPoolExecutor(THREADS - 1, "ledger", initializer=self._mark_thread)
        self._waiting_writers = ThreadPoolExecutor(1, "ledger-writers", initializer=self._mark_thread)
        self._open_calls = OpenCalls(self._engine.pool)
        self._is_closed = False

    async def to_the_end(self, call: Coroutine[Any, Any, R]) -> R:
        """Run a call on a thread, or directly if already on one. Raises LedgerUnavailable once closed."""
        if self._is_on_ledger_thread():
            return await call
        result: Future[R] = Future()
        result.set_running_or_notify_cancel()
        self._open_calls.add(result)
        self._send(self._threads, call, result)
        return await await_uninterrupted(asyncio.wrap_future(result))

    @asynccontextmanager
    async def read(self, *, single: bool) -> AsyncIterator[DirectConnection]:
        """Open a read transaction; a `single` statement needs none, because it sees one snapshot anyway."""
        with self._connected() as connection:
            if not single:
                _driver(connection).execute("BEGIN")
            yield DirectConnection(connection)

    @asynccontextmanager
    async def write(self, *, durable: bool) -> AsyncIterator[DirectConnection]:
        """Open a write transaction, committed unless the body raises. Raises LedgerUnavailable."""
        until = time.monotonic() + BUSY_S
        if self._writing_thread == threading.get_ident():
            raise RuntimeError("a write of the ledger began within another; use the connection of the first")
        await self._acquire_write_lock(until)
        try:
            with self._connected() as connection:
                mode = "FULL" if durable else "NORMAL"
                if connection.info["synchronous"] != mode:
                    _driver(connection).execute(f"PRAGMA synchronous={mode}")
                    connection.info["synchronous"] = mode
                # At least a second, because a reader may use this connection next.
                busy_s = max(until - time.monotonic(), 1.0)
                _driver(connection).execute(f"PRAGMA busy_timeout={int(busy_s * 1000)}")
                # Lock first: a writer that reads before it locks may find its snapshot stale, and fail.
                _driver(connection).execute("BEGIN IMMEDIATE")
                with connection.begin():
                    yield DirectConnection(connection)
        finally:
            self._writing_thread = None
            self._write_lock.release()

    @asynccontextmanager
    async def migrate(self) -> AsyncIterator[DirectConnection]:
        """Open a write transaction; statements have no time limit on SQLite."""
        async with self.write(durable=True) as connection:
            yield connection

    async def open(self) -> None:
        """Create the file if it is missing, readable by this user only. Raises OSError or sqlite3.Error."""
        await asyncio.to_thread(_try_file, self._file)

    async def overwrite(self) -> None:
        """Remove deleted data from the log as well, unless a reader still needs it. Raises sqlite3.Error."""
        await asyncio.to_thread(_empty_log, self._file)

    async def close(self, within_s: float) -> None:
        """Close all connections after waiting for calls in progress; calls not started by then are refused."""
        await self._open_calls.wait_until_done(within_s)
        self._is_closed = True
        self._engine.dispose()
        self._threads.shutdown(wait=False)
        self._waiting_writers.shutdown(wait=False)

    def _send(self, threads: ThreadPoolExecutor, call: Coroutine[Any, Any, R], result: Future[R]) -> None:
        try:
            self._refuse_when_closed()
            threads.submit(self._go_on, call, result)
        except BaseException as error:
            _fail(call, result, error)

    def _go_on(self, call: Coroutine[Any, Any, R], result: Future[R]) -> None:
        """Run a call to its end, or until it must wait for its turn to write."""
        try:
            # Calls still waiting when the ledger is closed must not keep the process from ending.
            self._refuse_when_closed()
            awaited = call.send(None)
        except StopIteration as end:
            result.set_result(end.value)
        except BaseException as error:
            _fail(call, result, error)
        else:
            if awaited is _WAITING_FOR_TURN:
                self._send(self._waiting_writers, call, result)
                return
            message = f"{call!r} waits for the event loop, and no call of the ledger may on SQLite"
            _fail(call, result, RuntimeError(message))

    async def _acquire_write_lock(self, until: float) -> None:
        if not self._write_lock.acquire(blocking=False):
            if self._is_on_ledger_thread():
                await _wait_for_turn()
            left_s = until - time.monotonic()
            if left_s <= 0 or not self._write_lock.acquire(timeout=left_s):
                raise LedgerUnavailable(
                    f"the ledger at {self._file} was kept by other writers for {BUSY_S:.0f} s; try again later"
                )
        self._writing_thread = threading.get_ident()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        self._refuse_when_closed()
        with self._engine.connect() as connection:
            try:
                yield connection
            finally:
                if self._is_closed:
                    # The pool has been disposed of and would never close it.
                    connection.invalidate()

    def _refuse_when_closed(self) -> None:
        if self._is_closed:
            raise LedgerUnavailable(f"the ledger at {self._file} was closed; open it again")

    def _mark_thread(self) -> None:
        self._this_thread.is_of_the_ledger = True

    def _is_on_ledger_thread(self) -> bool:
        return getattr(self._this_thread, "is_of_the_ledger", False)


def _fail(call: Coroutine[Any, Any, R], result: Future[R], error: BaseException) -> None:
    try:
        call.close()
    finally:
        result.set_exception(error)


@types.coroutine
def _wait_for_turn() -> Generator[object]:
    yield _WAITING_FOR_TURN


def _try_file(file: str) -> None:
    # Created here, because SQLite would give a new file the umask's mode; its journals inherit the file's mode.
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    for path in (file, f"{file}-wal", f"{file}-shm"):
        keep_private(Path(path))
    sqlite3.connect(file).close()


def _empty_log(file: str) -> None:
    with closing(sqlite3.connect(file, timeout=BUSY_S)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _set_up(connection: sqlite3.Connection, record: Any) -> None:
    # Otherwise the driver would open transactions by its own rules, too late and never IMMEDIATE.
    connection.isolation_level = None
    # SQLite's own lower() handles ASCII only.
    connection.create_function("small", 1, lambda text: None if text is None else text.lower(), deterministic=True)
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        connection.execute("PRAGMA journal_mode=WAL")
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    record.info["synchronous"] = "NORMAL"


def _driver(connection: Connection) -> sqlite3.Connection:
    """Return the driver's own connection, used to begin transactions: SQLAlchemy's events would cost more."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver
