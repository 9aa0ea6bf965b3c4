from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import create_async_engine

from core.domain import CaseState, DraftRequest
from core.errors import BadSettings, EmptyLedger, LedgerUnavailable
from ledger import Ledger, postgres_engine
from ledger.database import Database
from ledger.migrate import LOCK, upgrade
from ledger.tables import metadata
from tests.factories import make_post

KEY = b"a key for tests"
ON_A_SERVER = pytest.mark.parametrize("backend", [pytest.param("postgresql", marks=pytest.mark.live)], indirect=True)
PROCESS = """
import asyncio, sys
from ledger import Ledger
from ledger.migrate import upgrade

async def main():
    ledger = await Ledger.open(sys.argv[1], b"key")
    sys.stdin.readline()
    await ledger.migrate()
    await ledger.close()

print("ready", flush=True)
asyncio.run(main())
"""


@asynccontextmanager
async def lock_held(url: str) -> AsyncIterator[None]:
    """Hold the lock of a process that migrates while the body runs, which fails where it waits for that too long."""
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = '60s'"))
        await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        yield
    await engine.dispose()


async def test_an_empty_database_gets_every_table_and_a_second_run_changes_nothing(empty_url: str) -> None:
    ledger = await Ledger.open(empty_url, KEY)
    await ledger.migrate()
    await ledger.migrate()
    assert sum((await ledger.cases.counts()).values()) == 0
    await ledger.close()


async def test_the_migrated_tables_are_those_the_code_expects(url: str) -> None:
    def differences(connection: Connection) -> tuple[list[object], set[str]]:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        indexes = {str(index["name"]) for table in metadata.tables for index in inspect(connection).get_indexes(table)}
        return list(compare_metadata(context, metadata)), indexes

    engine = create_async_engine(url)
    async with engine.connect() as connection:
        changes, indexes = await connection.run_sync(differences)
    await engine.dispose()
    assert changes == []
    partial = {"cases_unfinished", "cases_fingerprint", "cases_answered", "history_escalations", "cases_with_texts"}
    assert {"cases_queue", "outbox_open", "outbox_open_of_case"} | partial <= indexes


async def test_ids_get_room_and_the_posted_cards_stay(empty_url: str) -> None:
    engine = create_async_engine(empty_url)
    async with engine.begin() as connection:
        await connection.run_sync(upgrade, "0002")
        await connection.execute(text(
            "INSERT INTO cards (surface, server, case_key, channel, message, version, counted_only, unsettled, at) "
            "VALUES ('discord', 's1', 'forum/1', 'c1', 'm1', 4, false, true, '2026-11-01 12:00:00')"
        ))  # fmt: skip
    await engine.dispose()
    ledger = await Ledger.open(empty_url, KEY)
    await ledger.migrate()
    card = await ledger.cards.find("discord", "s1", "forum/1")
    assert card is not None and (card.channel, card.message, card.version, card.unsettled) == ("c1", "m1", 4, True)
    assert await ledger.cards.unfinished("discord", ["s1"], card.at) == []
    await ledger.close()


async def test_cases_of_before_are_in_no_doubt(empty_url: str) -> None:
    engine = create_async_engine(empty_url)
    case = {
        "key": "forum/1", "post": make_post().model_dump_json(), "request": DraftRequest().model_dump_json(),
    }  # fmt: skip
    async with engine.begin() as connection:
        await connection.run_sync(upgrade, "0003")
        await connection.execute(text(
            "INSERT INTO cases (key, platform, post_id, post, groups, state, version, received_at, updated_at, "
            "request, request_number) VALUES (:key, 'forum', '1', :post, 0, 'pending', 1, '2026-11-01 12:00:00', "
            "'2026-11-01 12:00:00', :request, 1)"
        ), case)  # fmt: skip
    await engine.dispose()
    ledger = await Ledger.open(empty_url, KEY)
    await ledger.migrate()
    assert (await ledger.cases.counts())[CaseState.PENDING] == 1
    (found,) = (await ledger.cases.page(states=[CaseState.PENDING], doubtful=False)).cases
    assert (found.key, found.doubtful, await ledger.cases.count_doubtful()) == ("forum/1", False, 0)
    await ledger.close()


def test_processes_that_migrate_at_once_do_not_disturb_each_other(empty_url: str) -> None:
    root = Path(__file__).parents[2]
    processes = [
        subprocess.Popen([sys.executable, "-c", PROCESS, empty_url], cwd=root, text=True, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate(timeout=180)
        assert process.returncode == 0, errors


async def test_a_database_from_a_newer_release_is_refused_and_left_alone(empty_url: str) -> None:
    ledger = await Ledger.open(empty_url, KEY)
    await ledger.migrate()
    engine = create_async_engine(empty_url)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(BadSettings, match="newer Rejoinder"):
        await ledger.migrate()
    await ledger.close()
    async with engine.connect() as connection:
        assert (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalar_one() == "9999"
    await engine.dispose()


async def test_a_command_that_looks_leaves_older_tables_alone_and_says_what_to_run(empty_url: str) -> None:
    ledger = await Ledger.open(empty_url, KEY)
    with pytest.raises(EmptyLedger, match=r"no tables yet.*rejoinder ledger migrate"):
        await ledger.check_schema()
    engine = create_async_engine(empty_url)
    async with engine.begin() as connection:
        await connection.run_sync(upgrade, "0010")
    with pytest.raises(BadSettings, match=r"older Rejoinder \(0010, not .*rejoinder ledger migrate"):
        await ledger.check_schema()
    async with engine.connect() as connection:
        assert (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalar_one() == "0010"
    await ledger.migrate()
    await ledger.check_schema()
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(BadSettings, match="newer Rejoinder"):
        await ledger.check_schema()
    await ledger.close()
    await engine.dispose()


@ON_A_SERVER
async def test_a_step_may_take_longer_than_a_statement_may(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_engine, "COMMAND_S", 0.2)
    database = Database(url)
    async with database.migrate() as connection:
        await connection.execute(text("SELECT pg_sleep(0.4)"))
        limit = await connection.execute(text("SHOW statement_timeout"))
        assert limit.scalar_one() == "0"
    with pytest.raises(LedgerUnavailable):
        async with database.write() as connection:
            await connection.execute(text("SELECT pg_sleep(0.4)"))
    await database.close()


@ON_A_SERVER
async def test_tables_of_this_version_wait_for_no_lock(url: str) -> None:
    """Every start takes this way, also while another process migrates."""
    ledger = await Ledger.open(url, KEY)
    async with lock_held(url):
        await ledger.migrate()
    await ledger.close()


@ON_A_SERVER
async def test_a_lock_that_another_holds_is_waited_for_only_so_long_and_the_ledger_is_unavailable(
    empty_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(postgres_engine, "LOCK_S", 0.1)
    ledger = await Ledger.open(empty_url, KEY)
    async with lock_held(empty_url):
        with pytest.raises(LedgerUnavailable, match="lock timeout"):
            await ledger.migrate()
    with caplog.at_level(logging.INFO):
        await ledger.migrate()
    assert "migrating the ledger from no tables to" in caplog.text
    await ledger.close()


async def test_a_database_without_tables_is_unavailable_not_a_crash(empty_url: str) -> None:
    ledger = await Ledger.open(empty_url, KEY)
    with pytest.raises(LedgerUnavailable, match="cases"):
        await ledger.cases.get("forum/1")
    await ledger.close()
