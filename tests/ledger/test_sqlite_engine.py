"""Calls of the ledger on SQLite's threads."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from core.domain import CaseState
from core.errors import LedgerUnavailable
from ledger import Ledger, Step, sqlite_engine
from ledger.database import Database
from ledger.sqlite_engine import THREADS
from ledger.uninterrupted import uninterrupted
from tests.new_ledger import FILE_NAME, KEY, new_sqlite


@pytest.fixture
def backend() -> str:
    return "sqlite"


class Part:
    """A part of a ledger with a call that waits for the event loop in the middle of a transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def wait(self) -> None:
        async with self._database.write() as connection:
            await connection.execute(text("UPDATE cases SET version = 99"))
            await asyncio.sleep(0)

    @uninterrupted
    async def write_twice(self) -> None:
        async with self._database.write(), self._database.write():
            pass

    @uninterrupted
    async def write(self) -> int:
        async with self._database.write() as connection:
            await connection.execute(text("UPDATE cases SET version = version"))
        return 1

    @uninterrupted
    async def threads(self) -> tuple[str, str]:
        """Return the thread's name, and that of the thread on which a call within this one runs."""
        return threading.current_thread().name, await self.thread()

    @uninterrupted
    async def thread(self) -> str:
        return threading.current_thread().name


@pytest.fixture
async def part(url: str) -> AsyncIterator[Part]:
    database = Database(url)
    yield Part(database)
    await database.close()


async def test_a_call_and_those_within_it_run_on_one_thread_of_the_ledger(part: Part) -> None:
    outer, inner = await part.threads()
    assert outer == inner
    assert outer.startswith("ledger")


async def test_a_call_that_waits_for_the_event_loop_fails_and_leaves_nothing_behind(
    part: Part, ledger: Ledger, make: Any
) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    with pytest.raises(RuntimeError, match="waits for the event loop"):
        await part.wait()
    assert await ledger.cases.get(case.key) == case
    assert await ledger.stages.receive([make.post(2)]) == 1


async def test_readers_and_the_event_loop_go_on_while_a_writer_waits_for_another_process(
    ledger: Ledger, make: Any, tmp_path: Path
) -> None:
    case = await make.bring(ledger, CaseState.RECEIVED)
    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        step = asyncio.create_task(ledger.stages.triage(make.post(), make.triage()))
        assert await ledger.cases.get(case.key) == case
        assert not step.done()
        other.execute("ROLLBACK")
    assert await step is Step.MOVED


async def test_a_ledger_that_was_closed_says_so(tmp_path: Path) -> None:
    ledger = await Ledger.open(new_sqlite(tmp_path), KEY)
    await ledger.close()
    with pytest.raises(LedgerUnavailable, match="was closed"):
        await ledger.cases.counts()


@pytest.fixture
def locked(url: str, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of another process that holds the lock for writers."""
    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


async def test_readers_go_on_while_more_writers_wait_than_there_are_threads(
    part: Part, locked: sqlite3.Connection
) -> None:
    writers = [asyncio.create_task(part.write()) for _ in range(2 * THREADS)]
    await asyncio.sleep(0)
    async with asyncio.timeout(sqlite_engine.BUSY_S / 2):
        await part.thread()
    assert not any(writer.done() for writer in writers)
    locked.execute("ROLLBACK")
    assert await asyncio.gather(*writers) == [1] * len(writers)


async def test_writers_in_a_row_wait_no_longer_than_one(
    part: Part, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_engine, "BUSY_S", 1.0)
    async with asyncio.timeout(4):
        results = await asyncio.gather(*(part.write() for _ in range(8)), return_exceptions=True)
    assert {type(result) for result in results} == {LedgerUnavailable}


async def test_closing_waits_for_the_writers_that_still_wait(url: str, locked: sqlite3.Connection) -> None:
    database = Database(url)
    writers = [asyncio.create_task(Part(database).write()) for _ in range(6)]
    await asyncio.sleep(0)
    closing_it = asyncio.create_task(database.close())
    await asyncio.sleep(0)
    locked.execute("ROLLBACK")
    await closing_it
    assert await asyncio.gather(*writers) == [1] * 6
    gc.collect()


async def test_writers_that_wait_longer_than_closing_does_are_refused(url: str, locked: sqlite3.Connection) -> None:
    """Else each of them would keep the process from its end for as long as another process holds the lock."""
    database = Database(url)
    writers = [asyncio.create_task(Part(database).write()) for _ in range(6)]
    await asyncio.sleep(0)
    await database._engine.close(0.05)
    locked.execute("ROLLBACK")
    results = await asyncio.gather(*writers, return_exceptions=True)
    refused = [result for result in results if isinstance(result, LedgerUnavailable)]
    assert len(refused) >= 5
    assert all("was closed" in str(error) for error in refused)
    gc.collect()


async def test_opening_asks_the_database_on_a_thread(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []
    ping = Database.ping

    async def noted(database: Database) -> None:
        threads.append(threading.current_thread().name)
        await ping(database)

    monkeypatch.setattr(Database, "ping", noted)
    database = Database(url)
    await database.open()
    await database.close()
    assert [name.startswith("ledger") for name in threads] == [True]


async def test_a_write_within_a_write_is_an_error(part: Part) -> None:
    with pytest.raises(RuntimeError, match="within another"):
        await part.write_twice()
    assert await part.write() == 1


async def test_a_runtime_error_is_not_told_as_a_closed_ledger(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", no_thread)
    with pytest.raises(RuntimeError, match="can't start"):
        await part.thread()
