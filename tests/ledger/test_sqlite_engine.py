"""Calls of the ledger on SQLite's threads."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from core.domain import CaseState
from core.errors import LedgerUnavailable
from ledger import Ledger, Step
from ledger.database import Database
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
