from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from core.domain import CaseState, TargetGroup
from ledger import Ledger
from ledger.tables import GROUP_BITS, group_mask


def test_a_group_keeps_the_bit_it_is_stored_with() -> None:
    assert {group.value: bit for group, bit in GROUP_BITS.items()} == {
        "women": 1, "people_of_colour": 2, "disabled": 4, "migrants": 8, "muslims": 16, "jews": 32, "lgbt": 64,
        "other": 128,
    }  # fmt: skip
    assert group_mask([TargetGroup.JEWS, TargetGroup.WOMEN, TargetGroup.JEWS]) == 33


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
async def test_the_queries_of_the_queue_and_the_outbox_go_by_an_index(
    ledger: Ledger, make: Any, clock: Any, url: str
) -> None:
    await make.bring(ledger, CaseState.PENDING, make.post(author_id="u1"))
    queries: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        if "SELECT" in statement:
            queries.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        states = [CaseState.PENDING, CaseState.RELEASED]
        page = ledger.cases.page(
            states=states, group=TargetGroup.JEWS, platform="forum", claimed_by="ana", doubtful=False
        )
        plans = {
            "COVERING INDEX cases_queue (state=?)": page,
            "SEARCH cases USING COVERING INDEX cases_queue": ledger.cases.count_doubtful(),
            "history_escalations (": ledger.history.escalations(0, clock()),
            "history_decisions (at>?)": ledger.statistics.since(clock()),
            "cases_unfinished (updated_at<?)": ledger.cases.stale(clock() + timedelta(1), 10),
            "cases_fingerprint (fingerprint=?": ledger.stages.on_file(make.post(2, author_id="u1")),
            "cases_answered (author_hash=?)": ledger.replies.near("forum/2"),
            "cases_answered_thread (thread_hash=?)": ledger.replies.near("forum/2"),
            "cases_author (author_hash=?)": ledger.related.by_author("forum/1", 5),
            "cases_text (text_hash=?": ledger.related.same_text("forum/1"),
            "cases_appealed": ledger.cases.count_appealed(),
            "cases_with_texts (received_at<?)": ledger.erasure.due(clock(), 10),
            "cases_queue (state=? AND received_at<?)": ledger.erasure.prunable(clock(), 10),
            "outbox_open (free_at<?)": ledger.outbox.lease("p", 30, 10),
        }
        for index, call in plans.items():
            queries.clear()
            await call
            last = index.startswith(("cases_f", "cases_answered_thread", "history_d"))
            assert index in explained(url, *queries[-1 if last else 0]), index
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def explained(url: str, statement: str, parameters: Any) -> str:
    connection = sqlite3.connect(Path(url.removeprefix("sqlite+aiosqlite:///")))
    try:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters).fetchall()
    finally:
        connection.close()
    return "\n".join(str(row[3]) for row in rows)
