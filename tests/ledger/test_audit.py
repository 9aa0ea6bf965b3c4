from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from core.domain import CaseState
from core.errors import CaseNotFound
from ledger import Ledger
from tests.new_ledger import KEY


async def change(url: str, *statements: str) -> None:
    """Do what somebody could who may write to the database, past the triggers."""
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        if url.startswith("sqlite"):
            await connection.execute(text("DROP TRIGGER IF EXISTS history_no_update"))
            await connection.execute(text("DROP TRIGGER IF EXISTS history_no_delete"))
        else:
            await connection.execute(text("SET LOCAL session_replication_role = replica"))
        for statement in statements:
            await connection.execute(text(statement))
    await engine.dispose()


async def test_whole_histories_are_verified(ledger: Ledger, make: Any) -> None:
    for number, state in enumerate(CaseState):
        await make.bring(ledger, state, make.post(number))
    report = await ledger.audit.verify()
    assert (report.broken, report.cases, report.unchained) == (None, len(CaseState), 0)
    assert report.transitions == sum([len(await ledger.history.of(f"forum/{n}")) for n in range(len(CaseState))])


async def test_of_a_post_that_comes_twice_at_once_the_first_is_on_file_and_verifies(ledger: Ledger, make: Any) -> None:
    await ledger.stages.receive([make.post(1), make.post(1, text="Zorblings, the second report."), make.post(2)])
    assert (await ledger.cases.get("forum/1")).post.text == make.post(1).text
    assert (await ledger.audit.verify()).broken is None


async def test_undone_and_repeated_decisions_verify(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.APPROVED)
    case = await ledger.decisions.undo(case.key, case.version, "ana")
    due = clock() + timedelta(minutes=1)
    await ledger.decisions.approve(case.key, case.version, "bo", "Another reply. With a source.", "better", due)
    assert (await ledger.audit.verify(case.key)).broken is None


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE history SET who = 'bo' WHERE version = 5", "version 5: it was changed"),
        ("UPDATE history SET why = 'bad' WHERE version = 5", "version 5: its reason was changed"),
        ("UPDATE history SET why = '', salt = NULL WHERE version = 5", "version 5: its words are gone"),
        ("UPDATE history SET digest = NULL WHERE version = 5", "version 5: it has no digest"),
        ("UPDATE history SET digest = NULL WHERE version < 5", "version 5: it was changed"),
        ("UPDATE history SET at = '2026-01-01 00:00:00' WHERE version = 3", "version 3: it was changed"),
        ("DELETE FROM history WHERE version = 3", "version 3: its row is missing"),
        ("DELETE FROM history WHERE version = 6", "version 6: the case is released, and its history does not say so"),
        ("UPDATE cases SET final_text = 'Something else.'", "version 5: the approved text on file is not the one"),
        ("UPDATE cases SET post = replace(post, 'Zorb', 'Blorb')", "version 1: the post on file is not the one"),
        ("DELETE FROM drafts", "version 4: the draft on file is not the one"),
        ("UPDATE cases SET state = 'rejected'", "version 6: the case is rejected, and its history does not say so"),
    ],
)  # fmt: skip
async def test_the_first_break_is_found(ledger: Ledger, make: Any, url: str, statement: str, finding: str) -> None:
    case = await make.bring(ledger, CaseState.RELEASED, make.post(text="Zorblings are lazy."))
    await change(url, statement)
    for broken in ((await ledger.audit.verify()).broken, (await ledger.audit.verify(case.key)).broken):
        assert broken is not None and broken.startswith(f"case {case.key}, {finding}")


async def test_a_row_made_without_the_key_is_a_break(ledger: Ledger, make: Any, url: str, clock: Any) -> None:
    await make.bring(ledger, CaseState.PENDING)
    stranger = await Ledger.open(url, b"not " + KEY, clock)
    await stranger.decisions.claim("forum/1", 4, "eve", clock() + timedelta(minutes=1))
    await stranger.close()
    broken = (await ledger.audit.verify()).broken
    assert broken is not None and broken.startswith("case forum/1, version 5: it was changed, or made with another key")


async def test_a_changed_tombstone_is_a_break(ledger: Ledger, make: Any, url: str) -> None:
    await make.bring(ledger, CaseState.ESCALATED)
    for row in await ledger.outbox.lease("p", 30, 10):
        await ledger.outbox.note_sent(row, "p")
    await ledger.erasure.erase("forum/1", "operator", "erased on request")
    await ledger.erasure.prune("forum/1")
    await change(url, "UPDATE tombstones SET state = 'dismissed'")
    assert (await ledger.audit.verify()).broken == "tombstone 1: it was changed, or made with another key"


async def test_an_unknown_case_is_said_to_be_unknown(ledger: Ledger) -> None:
    with pytest.raises(CaseNotFound, match="no tombstone"):
        await ledger.audit.verify("forum/none")
