"""The append-only history: one row per transition of a case."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, Select, bindparam, func, select, text

from core.domain import CaseState, Transition, clean
from ledger.connection import Connection
from ledger.database import Database
from ledger.tables import IS_ESCALATION, cases, history
from ledger.uninterrupted import uninterrupted

_OF = select(history).where(history.c.case_key == bindparam("key")).order_by(history.c.version)
_SINCE = select(history).where(history.c.id > bindparam("id")).order_by(history.c.id).limit(bindparam("limit"))
_ESCALATIONS = _SINCE.where(
    IS_ESCALATION, history.c.from_state != CaseState.ESCALATED, history.c.at >= bindparam("from_moment")
)
_UNHANDLED = (
    select(history)
    .join(cases, cases.c.key == history.c.case_key)
    .where(
        IS_ESCALATION, history.c.from_state != CaseState.ESCALATED,
        cases.c.state == CaseState.ESCALATED, cases.c.handled.is_(False),
    )
    .order_by(history.c.id.desc())
    .limit(bindparam("limit"))
)  # fmt: skip
_LAST = select(func.coalesce(func.max(history.c.id), 0))
_LATEST_OF = _OF.order_by(None).order_by(history.c.version.desc()).limit(1)


def to_transition(row: RowMapping) -> Transition:
    """Convert a row of the history to a Transition."""
    return Transition.model_validate(dict(row))


async def latest_of(connection: Connection, key: str) -> Transition:
    """Return the newest transition of an existing case."""
    return to_transition((await connection.execute(_LATEST_OF, {"key": key})).mappings().one())


class History:
    """Reads the history, by case or in order of time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def of(self, key: str) -> list[Transition]:
        """Return a case's transitions, oldest first; empty for an unknown case."""
        async with self._database.read() as connection:
            rows = (await connection.execute(_OF, {"key": clean(key)})).mappings()
            return [to_transition(row) for row in rows]

    @uninterrupted
    async def since(self, id: int, limit: int = 500) -> list[Transition]:
        """Return up to `limit` transitions of all cases after row `id`, in order.

        Continuing from the last id returned misses none: a row never appears behind one already returned.
        """
        return await self._follow(_SINCE, id=id, limit=limit)

    @uninterrupted
    async def escalations(self, id: int, moment: datetime, limit: int = 500) -> list[Transition]:
        """Return up to `limit` escalations after row `id` that are not older than `moment`, in order.

        Continuing from the last id returned misses none.
        """
        return await self._follow(_ESCALATIONS, id=id, limit=limit, from_moment=moment)

    @uninterrupted
    async def unhandled_escalations(self, limit: int = 500) -> list[Transition]:
        """Return the last escalation of each case that is still escalated and not handled, oldest first.

        Only the newest `limit` rows are looked at.
        """
        async with self._database.read() as connection:
            rows = (await connection.execute(_UNHANDLED, {"limit": limit})).mappings().all()
        last_of = {row["case_key"]: row for row in reversed(rows)}
        return sorted(map(to_transition, last_of.values()), key=lambda change: change.id)

    @uninterrupted
    async def last_id(self) -> int:
        """Return the id of the newest row, from which `since` can continue; 0 if there is none."""
        if self._database.is_sqlite:
            async with self._database.read() as connection:
                return int((await connection.execute(_LAST)).scalar_one())
        async with self._database.write() as connection:
            await _wait_for_appends(connection)
            return int((await connection.execute(_LAST)).scalar_one())

    async def _follow(self, query: Select[Any], **parameters: object) -> list[Transition]:
        async with self._database.read() as connection:
            rows = (await connection.execute(query, parameters)).mappings().all()
        if rows and not self._database.is_sqlite:
            async with self._database.write() as connection:
                await _wait_for_appends(connection)
                rows = (await connection.execute(query, parameters)).mappings().all()
        return [to_transition(row) for row in rows]


async def _wait_for_appends(connection: Connection) -> None:
    """Wait until no row is being appended, and block new ones until the transaction ends.

    PostgreSQL assigns ids before commits, so id 8 can be visible while 7 is still in progress. SQLite has one writer
    and no such gap.
    """
    await connection.execute(text("LOCK TABLE history IN SHARE MODE"))
