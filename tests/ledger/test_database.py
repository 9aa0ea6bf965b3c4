from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from core.domain import CaseState
from core.errors import BadSettings, LedgerUnavailable
from ledger import Ledger
from ledger.database import Database

KEY = b"a key for tests"
ON_A_SERVER = pytest.mark.parametrize("backend", [pytest.param("postgresql", marks=pytest.mark.live)], indirect=True)


@pytest.mark.parametrize("url", [
    "nonsense", "mysql+aiomysql://host/db", "sqlite:///file.db", "postgresql://host/db", "sqlite+aiosqlite://",
    "sqlite+aiosqlite:///:memory:",
])  # fmt: skip
async def test_a_url_that_can_not_work_is_a_bad_setting(url: str) -> None:
    with pytest.raises(BadSettings, match=r"ledger\.url"):
        await Ledger.open(url, KEY)


async def test_an_empty_author_key_is_a_bad_setting(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match="author_key"):
        await Ledger.open(f"sqlite+aiosqlite:///{tmp_path}/ledger.db", b"")


@pytest.mark.parametrize("url", [
    "sqlite+aiosqlite:////no/such/folder/ledger.db",
    "postgresql+asyncpg://user:hush@127.0.0.1:1/db",
    "postgresql+asyncpg://user:hush@no-such-host.invalid/db",
    "postgresql+asyncpg://user:hush@/db?host=/no/such/socket",
    "postgresql+asyncpg://127.0.0.1:1/db?user=user&password=hush",
])  # fmt: skip
async def test_a_database_that_is_away_is_unavailable_and_no_password_shows(url: str) -> None:
    with pytest.raises(LedgerUnavailable, match="try again later") as away:
        await Ledger.open(url, KEY)
    assert "hush" not in str(away.value)


async def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    file.write_bytes(b"not a database at all " * 100)
    with pytest.raises(LedgerUnavailable, match="not a database"):
        await Ledger.open(f"sqlite+aiosqlite:///{file}", KEY)


@ON_A_SERVER
async def test_a_database_lost_while_in_use_is_unavailable_then_back(ledger: Ledger, make: Any, url: str) -> None:
    engine = create_async_engine(url)
    case = await make.bring(ledger, CaseState.PENDING)
    async with engine.begin() as connection:
        await connection.execute(text(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ))  # fmt: skip
    await engine.dispose()
    assert await ledger.cases.get(case.key) == case


@ON_A_SERVER
async def test_a_writer_killed_in_its_transaction_is_unavailable(url: str) -> None:
    database = Database(url)
    with pytest.raises(LedgerUnavailable):
        async with database.write() as connection:
            await connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    await database.ping()
    await database.close()


@ON_A_SERVER
@pytest.mark.parametrize(("kind", "value"), [("TEXT", "vile\0words"), ("TEXT", "\ud800"), ("INTEGER", 2**40)])
async def test_a_value_that_the_server_refuses_is_no_outage(url: str, kind: str, value: object) -> None:
    """What counts as an outage is tried for ever, and one hostile record would hold its partition."""
    database = Database(url)
    with pytest.raises(DBAPIError) as refused:
        async with database.read() as connection:
            await connection.execute(text(f"SELECT CAST(:value AS {kind})"), {"value": value})
    assert "parameters hidden" in str(refused.value)
    await database.close()


async def test_a_cancelled_caller_leaves_no_lock_behind(ledger: Ledger, make: Any) -> None:
    for round in range(20):
        tasks = [asyncio.create_task(ledger.stages.triage(make.post(f"{round}-{n}"), make.triage())) for n in range(6)]
        for _ in range(round * 5):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with asyncio.timeout(60):
            assert await ledger.stages.receive([make.post(f"after {round}".replace(" ", "-"))]) == 1


async def test_closing_waits_for_those_who_still_read_and_leaves_no_connection_open(url: str) -> None:
    database = Database(url)
    inside, may_go = asyncio.Event(), asyncio.Event()

    async def read() -> int:
        async with database.read() as connection:
            inside.set()
            await may_go.wait()
            return int((await connection.execute(text("SELECT 1"))).scalar_one())

    reading = asyncio.create_task(read())
    await inside.wait()
    closing = asyncio.create_task(database.close())
    await asyncio.wait({closing}, timeout=0.05)
    assert not closing.done()
    may_go.set()
    assert await reading == 1
    await closing
    # A connection left open warns when it is collected, and a warning is an error here.
    gc.collect()


async def test_closing_waits_for_a_call_that_has_begun_and_not_connected_yet() -> None:
    database = Database("postgresql+asyncpg://nobody@127.0.0.1:1/none")
    may_go = asyncio.Event()
    call = asyncio.create_task(database.to_the_end(may_go.wait()))
    await asyncio.sleep(0)
    closing = asyncio.create_task(database.close())
    await asyncio.wait({closing}, timeout=0.05)
    assert not closing.done()
    may_go.set()
    assert await call
    await closing


async def test_a_failing_transaction_leaves_nothing(url: str, make: Any) -> None:
    database = Database(url)
    with pytest.raises(ZeroDivisionError):
        async with database.write() as connection:
            await connection.execute(text("INSERT INTO drafts SELECT key, 1, 'x' FROM cases"))
            await connection.execute(text("DELETE FROM outbox"))
            _ = 1 / 0
    await database.ping()
    await database.close()


async def test_sqlite_commits_decisions_to_disk_and_stages_to_the_log(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path}/ledger.db")
    modes = []
    for durable in (True, False, True):
        async with database.write(durable=durable) as connection:
            modes.append((await connection.execute(text("PRAGMA synchronous"))).scalar_one())
            assert (await connection.execute(text("PRAGMA journal_mode"))).scalar_one() == "wal"
            assert (await connection.execute(text("PRAGMA foreign_keys"))).scalar_one() == 1
    await database.close()
    assert modes == [2, 1, 2]
