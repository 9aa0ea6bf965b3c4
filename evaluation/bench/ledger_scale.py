"""Measure the ledger with many cases: how long the queue, its counts and the statistics take."""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy import text

from core.domain import CaseState, Draft, FlaggedPost, Grounding, Intent, Origin, TargetGroup, Triage, now
from evaluation.stress.family import postgres_folder
from ledger import Ledger
from ledger.database import Database
from ledger.migrate import upgrade

RUNS = 40
DAY_S = 86_400
YEAR_S = 365 * DAY_S
KEY = b"a key for the bench"
TEMPLATE = FlaggedPost(platform="bench", post_id="template", text="Refugees have no rights here, send them back. " * 4)

STATE = """CASE WHEN i % 50 = 0 THEN 'pending' WHEN i % 50 = 1 THEN 'escalated' WHEN i % 50 <= 4 THEN 'rejected'
WHEN i % 50 <= 14 THEN 'released' ELSE 'dismissed' END"""
"""Of a hundred cases two are pending, two escalated, six rejected and twenty released; the others are dismissed."""
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT CAST(:first AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i < :last)"
AT_ONCE = 50_000
"""Rows inserted by one statement: on PostgreSQL a statement is cancelled after 30 s."""
CASES = """INSERT INTO cases (key, platform, post_id, post, groups, doubtful, state, previous_state, version,
received_at, updated_at, triage, grounding, request, request_number)
{numbers} SELECT 'bench/' || CAST(i AS TEXT), CASE WHEN i % 3 = 0 THEN 'forum' ELSE 'bench' END, CAST(i AS TEXT),
replace(c.post, '"template"', '"' || CAST(i AS TEXT) || '"'), c.groups, i % 200 = 0, {state}, 'received', 2, {at}, {at},
c.triage, CASE WHEN i % 50 <= 14 THEN c.grounding END, c.request, 1 FROM n, cases c WHERE c.key = 'bench/template'"""
DRAFTS = """INSERT INTO drafts (case_key, number, draft)
{numbers} SELECT 'bench/' || CAST(i AS TEXT), 1, d.draft FROM n, drafts d
WHERE i % 50 <= 14 AND d.case_key = 'bench/template'"""
RECEIVED = """INSERT INTO history (case_key, version, from_state, to_state, at, who, why)
{numbers} SELECT 'bench/' || CAST(i AS TEXT), 1, NULL, 'received', {at}, 'machine', 'flagged' FROM n"""
MOVED = """INSERT INTO history (case_key, version, from_state, to_state, at, who, why)
{numbers} SELECT 'bench/' || CAST(i AS TEXT), 2, CASE WHEN i % 50 BETWEEN 2 AND 14 THEN 'pending' ELSE 'received' END,
CASE WHEN i % 50 BETWEEN 5 AND 14 THEN 'approved' ELSE {state} END, {at}, 'ana', 'approved draft 1' FROM n"""


@dataclass(frozen=True)
class Row:
    """One line of the table: an operation, with the median and the 95th percentile in milliseconds."""

    name: str
    median_ms: float
    p95_ms: float


async def measure(cases: int, kind: str) -> list[Row]:
    """Fill a ledger with cases and return the times of all operations; the first row, `fill`, was timed once."""
    with tempfile.TemporaryDirectory(prefix="rejoinder-ledger-") as temporary:
        async with _url(kind, Path(temporary)) as url:
            database = Database(url)
            filling = await _timed(lambda: _fill(database, cases))
            await database.close()
            ledger = await Ledger.open(url, KEY)
            try:
                await ledger.cases.sum_up_counts()  # as the sweeper does every half minute
                rows = [await _row(name, call) for name, call in _calls(ledger).items()]
            finally:
                await ledger.close()
    return [Row("fill", filling, filling), *rows]


@asynccontextmanager
async def _url(kind: str, folder: Path) -> AsyncIterator[str]:
    if kind == "sqlite":
        yield f"sqlite+aiosqlite:///{folder / 'ledger.db'}"
        return
    with postgres_folder() as server:
        yield f"postgresql+asyncpg://postgres@/postgres?host={server}"


async def _fill(database: Database, cases: int) -> None:
    """Write one case through the ledger's own code, then copy it with SQL, AT_ONCE rows per statement."""
    async with database.write() as connection:
        await connection.run_sync(upgrade)
    await _write_template(database)
    began = now() - timedelta(seconds=YEAR_S)
    step = YEAR_S / cases
    if database.is_sqlite:
        seconds = f"(julianday('{began:%Y-%m-%d %H:%M:%S}') + i * {step} / {DAY_S})"
        at = f"strftime('%Y-%m-%d %H:%M:%f', {seconds}) || '000'"
    else:
        at = f"TIMESTAMPTZ '{began.isoformat()}' + i * INTERVAL '{step} seconds'"
    for statement in (CASES, DRAFTS, RECEIVED, MOVED):
        filled = text(statement.format(numbers=NUMBERS, state=STATE, at=at))
        for first in range(1, cases + 1, AT_ONCE):
            async with database.write() as connection:
                await connection.execute(filled, {"first": first, "last": min(cases, first + AT_ONCE - 1)})
    async with database.write() as connection:
        await connection.execute(text("ANALYZE"))


async def _write_template(database: Database) -> None:
    ledger = Ledger(database, KEY)
    triage = Triage.model_validate({
        "language": "en", "groups": [{"group": TargetGroup.MIGRANTS, "score": 0.9}], "hate": 0.9, "route": "draft",
        "reason": "it blames a group",
    })  # fmt: skip
    draft = Draft(
        case_key=TEMPLATE.key, number=1, text="Refugees have rights. They are in the Convention of 1951.",
        intent=Intent.INFORMATIVE, origin=Origin.COMPOSER, model="none", language="en", checks=(),
        created_at=now(),
    )  # fmt: skip
    await ledger.stages.receive([TEMPLATE])
    await ledger.stages.triage(TEMPLATE, triage)
    await ledger.stages.ground(TEMPLATE.key, Grounding(evidence=()), (await ledger.cases.get(TEMPLATE.key)).request)
    await ledger.stages.draft(draft)


def _calls(ledger: Ledger) -> dict[str, Callable[[], Awaitable[object]]]:
    async def queue() -> None:
        await ledger.cases.page(states=[CaseState.PENDING], limit=50)
        await ledger.cases.counts()
        await ledger.cases.count_doubtful()

    def statistics(days: int) -> Callable[[], Awaitable[object]]:
        return lambda: ledger.statistics.since(now() - timedelta(days=days))

    return {
        "queue page with its counts": queue,
        "pending, oldest first": lambda: ledger.cases.page(states=[CaseState.PENDING], limit=50),
        "any state, newest first": lambda: ledger.cases.page(limit=50, oldest_first=False),
        "pending of a platform and a group": lambda: ledger.cases.page(
            states=[CaseState.PENDING], platform="forum", group=TargetGroup.MIGRANTS, limit=50
        ),
        "counts by state": ledger.cases.counts,
        "cases in doubt": ledger.cases.count_doubtful,
        **{f"statistics of {days} days": statistics(days) for days in (1, 7, 30, 365)},
    }


async def _row(name: str, call: Callable[[], Awaitable[object]]) -> Row:
    times = sorted([await _timed(call) for _ in range(3 if "365" in name else RUNS)])
    return Row(name, times[len(times) // 2], times[min(len(times) - 1, int(0.95 * len(times)))])


async def _timed(call: Callable[[], Awaitable[object]]) -> float:
    """Return the milliseconds that a call takes."""
    began = time.perf_counter()
    await call()
    return (time.perf_counter() - began) * 1000


def table(rows: list[Row]) -> str:
    """Return the rows as a table for people to read."""
    width = max(len(row.name) for row in rows)
    lines = [f"| {row.name:<{width}} | {row.median_ms:12,.1f} | {row.p95_ms:12,.1f} |" for row in rows]
    return "\n".join([f"| {'milliseconds':<{width}} | {'median':>12} | {'p95':>12} |", *lines])
