from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import String, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from core.domain import CaseState, DraftRequest, now
from core.errors import CaseNotFound, NotAllowed
from core.lifecycle import StageName
from ledger import Ledger, Step
from ledger.erasure import ERASED_TEXT
from ledger.personal_data import DELETED, ERASED, WITHOUT_TEXT
from ledger.statistics import Period
from ledger.tables import metadata
from tests.factories import make_triage

AUTHOR = "zorb-hater-4711"
WORD = "Zorblings"
"""Stands in the post, the draft, the reply and the reasons of the cases below, and nowhere else."""
STATES = [state for state in CaseState if state is not CaseState.APPROVED]


def post(make: Any, number: int = 1) -> Any:
    return make.post(number, author_id=AUTHOR, text=f"All {WORD} are lazy.", reason=f"hate of {WORD}")


async def dump(url: str) -> str:
    """Return every row of every table as text."""
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        rows = [(await connection.execute(text(f"SELECT * FROM {table}"))).all() for table in metadata.tables]
    await engine.dispose()
    return repr(rows)


def test_every_column_of_text_is_in_one_list() -> None:
    """Add a new column to `ledger.personal_data`: is it emptied on erasure, or does it hold nobody's words?"""
    for table in metadata.sorted_tables:
        columns = {column.name for column in table.c if isinstance(column.type, String)}
        if table in DELETED:
            assert "case_key" in table.c
            continue
        erased, kept = ERASED.get(table, frozenset()), WITHOUT_TEXT.get(table, frozenset())
        assert erased | kept == columns, f"{table.name}: {sorted(columns ^ (erased | kept))}"
        assert not erased & kept, table.name


@pytest.mark.parametrize("state", STATES)
async def test_of_an_erased_case_no_word_is_left_but_its_decision_and_times(
    ledger: Ledger, make: Any, url: str, state: CaseState
) -> None:
    await make.bring(ledger, state, post(make))
    before = await ledger.history.of("forum/1")
    assert WORD in await dump(url)
    assert await ledger.erasure.erase("forum/1", "operator", "erased on request")
    assert not await ledger.erasure.erase("forum/1", "operator", "erased on request")

    assert WORD not in await dump(url)
    case = await ledger.cases.get("forum/1")
    open_before = state in (CaseState.RECEIVED, CaseState.TRIAGED, CaseState.GROUNDED, CaseState.PENDING)
    expected = CaseState.DISMISSED if open_before or state is CaseState.FAILED else state
    assert (case.state, case.post.text, case.drafts, case.final_text) == (expected, ERASED_TEXT, (), None)
    after = await ledger.history.of("forum/1")
    assert [(row.to_state, row.at, row.who) for row in after[:-1]] == [
        (row.to_state, row.at, row.who) for row in before
    ]
    assert (after[-1].who, after[-1].why) == ("operator", "erased on request")
    report = await ledger.audit.verify("forum/1")
    assert (report.broken, report.erased, report.transitions) == (None, 1, len(before) + 1)


async def test_the_file_of_a_sqlite_ledger_holds_no_erased_word(
    ledger: Ledger, make: Any, url: str, backend: str
) -> None:
    if backend != "sqlite":
        pytest.skip("PostgreSQL frees what was deleted by its own vacuum")
    await make.bring(ledger, CaseState.RELEASED, post(make))
    await make.bring(ledger, CaseState.PENDING, make.post(2))
    await ledger.erasure.erase("forum/1", "operator", "erased on request")
    await ledger.erasure.overwrite()
    for file in Path(url.removeprefix("sqlite+aiosqlite:///")).parent.iterdir():
        assert WORD.encode() not in file.read_bytes(), file.name


async def test_the_file_of_a_sqlite_ledger_holds_no_message_that_was_deleted(
    ledger: Ledger, make: Any, url: str, backend: str, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where SQLite is not built to overwrite what it deletes."""
    if backend != "sqlite":
        pytest.skip("PostgreSQL frees what was deleted by its own vacuum")
    await make.bring(ledger, CaseState.RELEASED)
    monkeypatch.setattr("ledger.sqlite_engine._PRAGMAS", ("secure_delete=OFF",))
    careless = await Ledger.open(url, b"key", clock)
    clock.pass_s(1)
    assert await careless.erasure.forget_logs(clock()) == (1, 0)
    await careless.erasure.overwrite()
    for file in Path(url.removeprefix("sqlite+aiosqlite:///")).parent.iterdir():
        assert b"reply:forum/1" not in file.read_bytes(), file.name
    await careless.close()


async def test_an_erased_case_waits_for_nobody_and_takes_no_note(ledger: Ledger, make: Any) -> None:
    await make.bring(ledger, CaseState.ESCALATED, post(make))
    await ledger.casework.appeal("forum/1", "platform", "It was a joke.")
    await ledger.erasure.erase("forum/1", "operator", "erased on request")
    assert (await ledger.cases.count_appealed(), await ledger.cases.count_handled()) == (0, 1)
    for add in (ledger.casework.note, ledger.casework.appeal):
        with pytest.raises(NotAllowed, match="were erased"):
            await add("forum/1", "ana", "One thing more.")


async def test_nothing_happens_to_an_erased_case_any_more(ledger: Ledger, make: Any, url: str) -> None:
    await make.bring(ledger, CaseState.RECEIVED, post(make))
    await make.bring(ledger, CaseState.REJECTED, post(make, 2))
    for key in ("forum/1", "forum/2"):
        await ledger.erasure.erase(key, "operator", "erased on request")
    assert await ledger.stages.triage(post(make), make_triage()) is Step.LATE
    assert await ledger.stages.receive([post(make)]) == 0
    assert not await ledger.stages.fail("forum/1", StageName.TRIAGE, f"about {WORD}")
    case = await ledger.cases.get("forum/2")
    with pytest.raises(NotAllowed, match="were erased"):
        await ledger.decisions.undo("forum/2", case.version, "ana")
    assert WORD not in await dump(url)


async def test_a_waiting_reply_is_called_back_and_one_that_is_being_sent_waits(
    ledger: Ledger, make: Any, clock: Any
) -> None:
    await make.bring(ledger, CaseState.APPROVED, post(make))
    await ledger.erasure.erase("forum/1", "operator", "erased on request")
    assert [row.topic.value for row in await ledger.outbox.lease("p", 30, 10)] == ["outcomes"]

    case = await make.bring(ledger, CaseState.PENDING, post(make, 2))
    await ledger.decisions.approve(
        "forum/2", case.version, "ana", f"{WORD} are people.", "", ledger.outbox._database.clock()
    )
    assert await ledger.outbox.lease("p", 30, 10)
    with pytest.raises(NotAllowed, match="is being released"):
        await ledger.erasure.erase("forum/2", "operator", "erased on request")
    assert (await ledger.cases.get("forum/2")).state is CaseState.APPROVED


async def test_the_cases_of_an_author_are_found_by_platform_and_id(ledger: Ledger, make: Any) -> None:
    await ledger.stages.receive(
        [post(make), post(make, 2), make.post(3), make.post(4, author_id=AUTHOR, platform="chat")]
    )
    assert await ledger.erasure.cases_of("forum", AUTHOR) == ["forum/1", "forum/2"]
    await ledger.erasure.erase("forum/1", "operator", "erased on request")
    assert await ledger.erasure.cases_of("forum", AUTHOR) == ["forum/2"]
    with pytest.raises(CaseNotFound):
        await ledger.erasure.erase("forum/9", "operator", "erased on request")


async def test_everything_held_of_a_case_is_exported(ledger: Ledger, make: Any) -> None:
    await make.bring(ledger, CaseState.RELEASED, post(make))
    await ledger.cards.number_of("forum/1")
    await ledger.holdings.record_uncovering("forum/1", "ana")
    [held] = await ledger.holdings.of(["forum/1"])
    assert held["case"]["post"]["text"] == f"All {WORD} are lazy."
    assert held["case"]["groups"] == ["migrants"]
    assert [row["draft"]["number"] for row in held["drafts"]] == [1]
    assert [row["to_state"] for row in held["history"]][-1] == "released"
    assert held["outbox"][0]["value"]["text"] == held["case"]["final_text"]
    assert (held["case_numbers"][0]["number"], held["uncoverings"][0]["who"]) == (1, "ana")
    assert {"cards", "assignments"} <= set(held)


async def test_a_chat_shows_an_erased_case_again_before_it_may_be_pruned(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.RELEASED, post(make))
    for row in await ledger.outbox.lease("p", 30, 10):
        await ledger.outbox.note_sent(row, "p")
    await ledger.cards.reserve("discord", "s", "forum/1", "c")
    await ledger.cards.record_message("discord", "s", "forum/1", "m", case.version, unsettled=False)
    assert not await ledger.erasure.prune("forum/1")
    await ledger.erasure.erase("forum/1", "operator", "erased on request")
    [card] = await ledger.cards.outdated("discord", ["s"])
    assert not await ledger.erasure.prune("forum/1")
    await ledger.cards.record_message("discord", "s", card.case_key, "m", card.version + 1, unsettled=False)
    assert await ledger.erasure.prune("forum/1")
    assert not any((await ledger.cases.counts()).values())


async def test_of_a_pruned_case_a_tombstone_is_left_that_names_nobody(
    ledger: Ledger, make: Any, clock: Any, url: str
) -> None:
    await make.bring(ledger, CaseState.DISMISSED, post(make))
    for row in await ledger.outbox.lease("p", 30, 10):
        await ledger.outbox.note_sent(row, "p")
    await ledger.erasure.erase("forum/1", "operator", "erased on request")
    assert await ledger.erasure.due(clock() + timedelta(1), 10) == []
    assert await ledger.erasure.prunable(clock() + timedelta(1), 10) == ["forum/1"]
    assert await ledger.erasure.prunable(clock(), 10) == []
    assert await ledger.erasure.pruned_at("forum/1") is None
    assert await ledger.erasure.prune("forum/1")
    assert await ledger.erasure.pruned_at("forum/1") == clock()
    assert await ledger.erasure.pruned_at("forum/2") is None
    with pytest.raises(CaseNotFound, match="pruned just now"):
        await ledger.erasure.prune("forum/1")
    left = await dump(url)
    assert "forum/1" not in left and "operator" not in left
    assert (await ledger.audit.verify("forum/1")).pruned == 1
    report = await ledger.audit.verify()
    assert (report.cases, report.pruned, report.broken) == (0, 1, None)


async def test_old_sent_messages_and_records_of_looks_go(ledger: Ledger, make: Any, clock: Any) -> None:
    await make.bring(ledger, CaseState.RELEASED, post(make))
    await ledger.holdings.record_uncovering("forum/1", "ana")
    assert await ledger.erasure.forget_logs(clock()) == (0, 0)
    clock.pass_s(1)
    assert await ledger.erasure.forget_logs(clock()) == (1, 1)
    assert (await ledger.outbox.backlog()).rows == 1


async def test_a_history_loses_words_alone_and_rows_only_with_an_erased_case(
    ledger: Ledger, make: Any, url: str
) -> None:
    await make.bring(ledger, CaseState.REJECTED, post(make))
    engine = create_async_engine(url)
    for sql in (
        "UPDATE history SET why = 'something else', salt = NULL",
        "UPDATE history SET why = ''",
        "UPDATE history SET why = '', salt = NULL, who = 'bo'",
        "DELETE FROM history",
    ):
        with pytest.raises(DBAPIError, match="append-only"):
            async with engine.begin() as connection:
                await connection.execute(text(sql))
    await engine.dispose()


async def test_counts_and_statistics_stay(ledger: Ledger, make: Any, clock: Any) -> None:
    await make.bring(ledger, CaseState.RELEASED, post(make))
    await make.bring(ledger, CaseState.REJECTED, post(make, 2))
    period = await ledger.statistics.since(clock() - timedelta(1))
    before = _decisions(period)
    assert [decided.edited for decided in period.decided] == [True, False]
    for key in ("forum/1", "forum/2"):
        await ledger.erasure.erase(key, "operator", "erased on request")
    assert _decisions(await ledger.statistics.since(clock() - timedelta(1))) == before
    assert (await ledger.cases.get("forum/1")).request == DraftRequest()


def _decisions(period: Period) -> list[tuple[object, ...]]:
    return [
        (period.received, case.key, case.state, case.edited, case.who, case.groups, case.intent)
        for case in period.decided
    ]


async def test_what_is_due_is_told_by_the_clock_that_all_processes_share(
    ledger: Ledger, clock: Any, backend: str
) -> None:
    clock.pass_s(10 * 365 * 86_400)  # this process runs ahead
    if backend == "sqlite":
        assert await ledger.erasure.now() == clock.time, "there is no other clock"
    else:
        assert abs(await ledger.erasure.now() - now()) < timedelta(days=1)
