"""How pending cases are distributed among moderators, and which cases arrived recently."""

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
    """The number of pending cases that a moderator has claimed, and of those assigned to them."""

    who: str
    held: int
    assigned: int


@dataclass(frozen=True)
class Arrival:
    """A case that arrived: when, and whom it attacks."""

    at: datetime
    groups: tuple[TargetGroup, ...]


class Workloads:
    """Reads workloads and recent arrivals."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def current(self) -> list[Workload]:
        """Return the workload of everybody who has one, sorted by name."""
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
        """Return what arrived since a moment, oldest first; if more, the newest 5,000."""
        query = (
            select(cases.c.received_at, cases.c.groups)
            # The states are listed so that the index over state and arrival is used.
            .where(cases.c.state.in_(tuple(CaseState)), cases.c.received_at >= since)
            .order_by(cases.c.received_at.desc())
            .limit(MOST_ARRIVALS)
        )
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).all()
        return [Arrival(row.received_at, groups_of(row.groups)) for row in reversed(rows)]
