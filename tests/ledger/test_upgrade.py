"""A data folder and a PostgreSQL ledger that version 0.1.0 wrote open with this one, and nothing of them is lost."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from pydantic import SecretStr
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from core.domain import CaseState, DraftRequest, Intent, now
from core.settings import LedgerSettings, Settings
from ledger import Ledger
from ledger.tables import metadata
from rejoinder.assembly import open_ledger
from stream.sweeper import due_message
from tests.factories import make_draft, make_post

DUMPS = Path(__file__).parent / "upgrade"
AUTHOR_KEY = "a key for tests"
TRANSITIONS = 46
Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture
def settings(empty_url: str, backend: str, tmp_path: Path) -> Settings:
    """Give settings that name what 0.1.0 left: its data folder, or its database on PostgreSQL."""
    dump = (DUMPS / f"v0_1_0_{backend}.sql").read_text()
    if backend == "postgresql":
        asyncio.run(_load(empty_url.replace("+asyncpg", ""), dump))
        return Settings(data_dir=tmp_path, ledger=LedgerSettings(url=empty_url, author_key=SecretStr(AUTHOR_KEY)))
    (tmp_path / "author.key").write_text(AUTHOR_KEY)
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.executescript(dump)
    connection.close()
    return Settings(data_dir=tmp_path)


async def _load(uri: str, dump: str) -> None:
    connection = await asyncpg.connect(uri)
    await connection.execute(dump)
    await connection.close()


@pytest.fixture
async def before(settings: Settings) -> Rows:
    return await rows_of(settings)


@pytest.fixture
async def ledger(settings: Settings, before: Rows) -> AsyncIterator[Ledger]:
    async with open_ledger(settings, migrating=True) as opened:
        yield opened


async def rows_of(settings: Settings) -> Rows:
    """Return every row of every table that is there."""
    engine = create_async_engine(settings.ledger_url)
    found: Rows = {}
    async with engine.connect() as connection:
        there = await connection.run_sync(lambda sync: sync.dialect.get_table_names(sync))
        for table in [table for table in there if table in metadata.tables]:
            rows = (await connection.execute(text(f"SELECT * FROM {table}"))).mappings()
            found[table] = [dict(row) for row in rows]
    await engine.dispose()
    return found


async def test_every_row_is_still_there_with_every_value(settings: Settings, before: Rows, ledger: Ledger) -> None:
    after = await rows_of(settings)
    assert sum(map(len, before.values())) > TRANSITIONS
    for table, rows in before.items():
        kept = [{name: row[name] for name in rows[0]} for row in after[table]] if rows else after[table]
        assert sorted(map(repr, kept)) == sorted(map(repr, rows)), table


async def test_every_case_can_be_read_in_its_state(ledger: Ledger) -> None:
    page = await ledger.cases.page(limit=50)
    assert {case.key: str(case.state) for case in page.cases} == {
        **{f"forum/{number}": str(state) for number, state in enumerate(CaseState, start=1)},
        "forum/claimed": "grounded", "forum/undone": "pending",
    }  # fmt: skip
    for case in page.cases:
        whole = await ledger.cases.get(case.key)
        history = await ledger.history.of(case.key)
        assert (history[-1].version, history[-1].to_state) == (whole.version, whole.state)
    redrafted = await ledger.cases.get("forum/claimed")
    avoided = ("The Zorblaxians again?",)
    assert redrafted.request == DraftRequest(number=2, intent=Intent.QUESTIONING, hint="shorter", avoid=avoided)
    assert (await ledger.cases.get("forum/6")).final_text == "A fair reply. With a source."
    assert await ledger.cards.key_of(1) == "forum/4"


async def test_work_goes_on_where_it_was(ledger: Ledger) -> None:
    stuck = await ledger.cases.stale(now() + timedelta(days=1), 10)
    assert sorted(str(due_message(case)[0]) for case in stuck) == ["draft", "draft", "ground", "triage"]
    assert await ledger.stages.draft(make_draft("forum/claimed", 2))
    pending = await ledger.cases.get("forum/undone")
    await ledger.decisions.approve("forum/undone", pending.version, "ana", "A fair reply. With a source.", "", now())
    due = await ledger.outbox.lease("publisher", 30, 100)
    assert "forum/5" in {row.case_key for row in due}
    for row in due:
        assert await ledger.outbox.note_sent(row, "publisher")
    for key in ("forum/5", "forum/undone"):
        assert (await ledger.cases.get(key)).state is CaseState.RELEASED
    repeat = make_post("new", author_id="zorb-1", text="The Zorblaxians ruin everything.")
    assert (await ledger.stages.on_file(repeat)).duplicate_of


async def test_its_history_is_followed_by_the_chain_and_can_be_erased(ledger: Ledger) -> None:
    report = await ledger.audit.verify()
    assert (report.broken, report.transitions, report.unchained) == (None, TRANSITIONS, TRANSITIONS)
    pending = await ledger.cases.get("forum/undone")
    await ledger.decisions.reject("forum/undone", pending.version, "ana", "tone", now())
    keys = await ledger.erasure.cases_of("forum", "zorb-1")
    assert keys == ["forum/1", "forum/4", "forum/7", "forum/10"]
    for key in keys:
        assert await ledger.erasure.erase(key, "operator", "erased on request")
    report = await ledger.audit.verify()
    assert (report.broken, report.transitions, report.unchained) == (None, TRANSITIONS + 5, TRANSITIONS)
