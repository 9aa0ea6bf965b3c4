"""A connection to SQLite that takes one trip to its thread for each statement."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ledger.sqlite_trips import OneTripConnection, connect


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[OneTripConnection]:
    opened = connect(str(tmp_path / "some.db"), isolation_level=None, check_same_thread=False)
    await opened
    await opened.cursor().execute("CREATE TABLE t (n INTEGER PRIMARY KEY, word TEXT)")
    yield opened
    await opened.close()


async def test_a_statement_and_its_rows_take_one_trip(
    connection: OneTripConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips = 0
    queue = connection._tx

    class Counting:
        def put_nowait(self, item: object) -> None:
            nonlocal trips
            trips += 1
            queue.put_nowait(item)  # type: ignore[arg-type]

    monkeypatch.setattr(connection, "_tx", Counting())
    cursor = connection.cursor()
    await cursor.execute("INSERT INTO t (word) VALUES (?), (?) RETURNING n", ("a", "b"))
    assert await cursor.fetchall() == [(1,), (2,)]
    assert cursor.description[0][0] == "n"
    await cursor.close()
    await connection.rollback()
    assert trips == 1
    monkeypatch.undo()


async def test_counts_are_those_of_sqlite(connection: OneTripConnection) -> None:
    cursor = connection.cursor()
    await cursor.executemany("INSERT INTO t (word) VALUES (?)", [("a",), ("b",), ("b",)])
    assert cursor.rowcount == 3
    await cursor.execute("DELETE FROM t WHERE word = ?", ("b",))
    assert (cursor.rowcount, cursor.description, await cursor.fetchall()) == (2, None, [])


async def test_an_open_transaction_is_rolled_back(connection: OneTripConnection) -> None:
    cursor = connection.cursor()
    await cursor.execute("BEGIN IMMEDIATE")
    await cursor.execute("INSERT INTO t (word) VALUES ('a')")
    await connection.rollback()
    await cursor.execute("SELECT count(*) FROM t")
    assert await cursor.fetchall() == [(0,)]


async def test_errors_come_through(connection: OneTripConnection) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await connection.cursor().execute("SELECT * FROM nowhere")


async def test_a_transaction_begins_with_its_first_statement(connection: OneTripConnection) -> None:
    connection.begin_with("BEGIN IMMEDIATE")
    assert not connection.in_transaction
    await connection.cursor().execute("SELECT 1")
    assert connection.in_transaction
    await connection.commit()
    assert not connection.in_transaction


@pytest.mark.parametrize("end", ["commit", "rollback"])
async def test_a_transaction_without_a_statement_never_begins(connection: OneTripConnection, end: str) -> None:
    connection.begin_with("BEGIN IMMEDIATE")
    await getattr(connection, end)()
    await connection.cursor().execute("SELECT 1")
    assert not connection.in_transaction
