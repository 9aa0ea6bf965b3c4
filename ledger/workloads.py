"""How the waiting cases are shared out among moderators, and what came in lately."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from core.domain import CaseState, TargetGroup
from ledger.chat_tables import assignments
from ledger.database import Database
from ledger.tables import cases, groups_of
from ledger.uninterrupted import uninterrupted

MOST_ARRIVALS = 5_000


@dataclass(frozen=True)
class Workload:
    """The waiting cases that somebody holds, and those that somebody was assigned."""

    who: str
    held: int
    assigned: int


@dataclass(frozen=True)
class Arrival:
    """A case that came in: when, and whom it attacks."""

    at: datetime
    groups: tuple[TargetGroup, ...]


class Workloads:
    """Who has what before them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def current(self) -> list[Workload]:
        """Return the workload of everybody who has one, by name."""
        waits = cases.c.state == CaseState.PENDING
        held = (
            select(cases.c.claimed_by, func.count())
            .where(waits, cases.c.claimed_by.is_not(None), cases.c.claimed_until > self._database.clock())
            .group_by(cases.c.claimed_by)
        )
        assigned = (
            select(assignments.c.assignee, func.count())
            .join(cases, cases.c.key == assignments.c.case_key)
            .where(waits)
            .group_by(assignments.c.assignee)
        )
        async with self._database.read() as connection:
            holds = {row[0]: int(row[1]) for row in await connection.execute(held)}
            owes = {row[0]: int(row[1]) for row in await connection.execute(assigned)}
        return [Workload(who, holds.get(who, 0), owes.get(who, 0)) for who in sorted({*holds, *owes})]

    @uninterrupted
    async def arrivals(self, since: datetime) -> list[Arrival]:
        """Return what came in since a moment, the newest 5,000 of it, the oldest first."""
        query = (
            select(cases.c.received_at, cases.c.groups)
            # With the states named, the index over state and arrival is used.
            .where(cases.c.state.in_(tuple(CaseState)), cases.c.received_at >= since)
            .order_by(cases.c.received_at.desc())
            .limit(MOST_ARRIVALS)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [Arrival(row.received_at, groups_of(row.groups)) for row in reversed(rows)]
