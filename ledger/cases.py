"""Read access to cases: one by one, as pages of a queue, counted, and those whose next step is overdue."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Select,
    bindparam,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    tuple_,
    union_all,
    update,
)

from core.domain import Case, CaseState, TargetGroup, clean
from core.errors import BadInput, CaseNotFound
from ledger.chat_tables import assignments
from ledger.database import Database
from ledger.rows import find_case, find_cases
from ledger.search import has_words
from ledger.tables import GROUP_BITS, IS_APPEALED, IS_UNFINISHED, UtcTime, cases, state_counts
from ledger.uninterrupted import uninterrupted

MAX_PAGE = 1_000
MAX_CHANGES = 500
"""Rows of `state_counts` up to which `sum_up_counts` does nothing."""

_COUNTS = select(state_counts.c.state, func.sum(state_counts.c.change)).group_by(state_counts.c.state)
_CHANGES = select(func.count()).select_from(state_counts)
_TAKE_CHANGES = delete(state_counts).returning(state_counts.c.state, state_counts.c.change)
_DOUBTFUL = select(func.count()).where(cases.c.state == CaseState.PENDING, cases.c.doubtful.is_(True))
_HANDLED = select(func.count()).where(cases.c.state == CaseState.ESCALATED, cases.c.handled.is_(True))
_APPEALED = select(func.count()).select_from(cases).where(IS_APPEALED)
_STALE = (
    select(cases.c.key)
    .where(IS_UNFINISHED, cases.c.updated_at < bindparam("before"))
    .order_by(cases.c.updated_at)
    .limit(bindparam("limit"))
)
_TOUCH = (
    update(cases)
    .where(IS_UNFINISHED, cases.c.key.in_(bindparam("keys", expanding=True)))
    .values(updated_at=bindparam("at"))
)


@dataclass(frozen=True)
class CasePage:
    """One page of cases, and the cursor of the next page, None on the last."""

    cases: tuple[Case, ...]
    next_cursor: str | None


class Cases:
    """Reads cases, one by one and as a queue."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def get(self, key: str) -> Case:
        """Return a case with its drafts; raises CaseNotFound."""
        async with self._database.read() as connection:
            case = await find_case(connection, clean(key))
        if case is None:
            raise CaseNotFound(f"there is no case {clean(key)}; look its key up in the queue")
        return case

    @uninterrupted
    async def named(self, keys: Sequence[str]) -> list[Case]:
        """Return the cases with these keys, in order, without their drafts' candidates; unknown keys are skipped."""
        async with self._database.read() as connection:
            return await find_cases(connection, keys)

    @uninterrupted
    async def page(
        self, *, states: Collection[CaseState] = (), group: TargetGroup | None = None, platform: str | None = None,
        claimed_by: str | None = None, mine: str | None = None, doubtful: bool | None = None,
        handled: bool | None = None, appealed: bool | None = None, hidden: Collection[TargetGroup] = (),
        search: str = "", limit: int = 50, cursor: str | None = None, oldest_first: bool = True,
    ) -> CasePage:  # fmt: skip
        """Return up to `limit` cases in order of arrival; empty `states` means any state.

        - `doubtful`: True for only those that triage doubted and whose draft nobody has requested, False for only the
          others; `handled` and `appealed` work the same way.
        - `mine`: only cases that this moderator has claimed or was assigned.
        - `hidden`: cases that attack none but these groups are left out.
        - `search`: only cases with all of its words in post, drafts, approved text, key or groups.
        - `cursor`: the `next_cursor` of the previous page. Cases that arrive or move between two pages never appear
          twice.

        Drafts come without candidates. Raises BadInput for an invalid cursor or a limit outside 1 to 1,000.
        """
        if not 1 <= limit <= MAX_PAGE:
            raise BadInput(f"a page of {limit} cases can't be had; ask for 1 to {MAX_PAGE}")
        flags = {cases.c.doubtful: doubtful, cases.c.handled: handled, cases.c.appealed: appealed}
        filters = [*_filters(group, platform, claimed_by, mine), *_flag_filters(flags), *_seen_by(hidden)]
        filters += has_words(search)
        if cursor is not None:
            filters.append(_beyond(_position(cursor), oldest_first))
        query = _ordered(states or tuple(CaseState), filters, oldest_first, limit + 1)
        async with self._database.read() as connection:
            places = (await connection.execute(query)).all()
            page = await find_cases(connection, [place.key for place in places[:limit]])
        last = places[limit - 1] if len(places) > limit else None
        return CasePage(tuple(page), _cursor(last.received_at, last.key) if last else None)

    @uninterrupted
    async def counts(self) -> dict[CaseState, int]:
        """Return the number of cases in each state, including states without any."""
        async with self._database.read() as connection:
            counted = {CaseState(state): int(number) for state, number in await connection.execute(_COUNTS)}
        return {state: counted.get(state, 0) for state in CaseState}

    @uninterrupted
    async def sum_up_counts(self) -> None:
        """Merge the many changes of each state's count into one row, so that `counts` stays fast; safe at any time."""
        async with self._database.write(durable=False) as connection:
            if (await connection.execute(_CHANGES)).scalar_one() <= MAX_CHANGES:
                return
            sums: Counter[str] = Counter()
            for state, change in await connection.execute(_TAKE_CHANGES):
                sums[state] += change
            rows = [{"state": state, "change": number} for state, number in sums.items()]
            # Another process may have merged them while this one waited for the rows.
            if rows:
                await connection.execute(insert(state_counts), rows)

    @uninterrupted
    async def count_doubtful(self) -> int:
        """Count the pending cases for which a moderator must first decide whether they are hateful at all."""
        async with self._database.read() as connection:
            return int((await connection.execute(_DOUBTFUL)).scalar_one())

    @uninterrupted
    async def count_handled(self) -> int:
        """Count the escalated cases that somebody has dealt with."""
        async with self._database.read() as connection:
            return int((await connection.execute(_HANDLED)).scalar_one())

    @uninterrupted
    async def count_appealed(self) -> int:
        """Count the closed cases with an appeal that waits for an answer."""
        async with self._database.read() as connection:
            return int((await connection.execute(_APPEALED)).scalar_one())

    @uninterrupted
    async def stale(self, older_than: datetime, limit: int) -> list[Case]:
        """Return unfinished cases that have not moved since `older_than`, longest waiting first.

        Their drafts come without candidates.
        """
        async with self._database.read() as connection:
            keys = (await connection.execute(_STALE, {"before": older_than, "limit": limit})).scalars().all()
            return await find_cases(connection, keys)

    @uninterrupted
    async def touch(self, keys: Sequence[str]) -> None:
        """Mark unfinished cases as just checked, so that `stale` skips them for a while; the version stays the same."""
        async with self._database.write(durable=False) as connection:
            await connection.execute(_TOUCH, {"keys": list(keys), "at": self._database.clock()})


def _filters(
    group: TargetGroup | None, platform: str | None, claimed_by: str | None, mine: str | None
) -> list[ColumnElement[bool]]:
    filters: list[ColumnElement[bool]] = []
    if group is not None:
        filters.append(cases.c.groups.bitwise_and(GROUP_BITS[group]) != 0)
    if platform is not None:
        filters.append(cases.c.platform == clean(platform))
    if claimed_by is not None:
        filters.append(cases.c.claimed_by == clean(claimed_by))
    if mine is not None:
        assigned = select(assignments.c.case_key).where(assignments.c.assignee == clean(mine))
        filters.append(or_(cases.c.claimed_by == clean(mine), cases.c.key.in_(assigned)))
    return filters


def _seen_by(hidden: Collection[TargetGroup]) -> list[ColumnElement[bool]]:
    others = sum(bit for group, bit in GROUP_BITS.items() if group not in hidden)
    return [or_(cases.c.groups == 0, cases.c.groups.bitwise_and(others) != 0)] if hidden else []


def _flag_filters(flags: dict[Column[bool], bool | None]) -> list[ColumnElement[bool]]:
    return [column.is_(value) for column, value in flags.items() if value is not None]


def _ordered(
    states: Collection[CaseState], filters: list[ColumnElement[bool]], oldest_first: bool, limit: int
) -> Select[Any]:
    # One ordered index scan per state, then a merge: `state IN (…)` would sort all cases in those states.
    walks = [
        select(
            select(cases.c.key, cases.c.received_at)
            .where(cases.c.state == state, *filters)
            .order_by(*_order(cases.c, oldest_first))
            .limit(limit)
            .subquery()
        )
        for state in sorted(set(states))
    ]
    merged = union_all(*walks).subquery()
    return select(merged).order_by(*_order(merged.c, oldest_first)).limit(limit)


def _order(columns: Any, oldest_first: bool) -> tuple[ColumnElement[Any], ...]:
    order = (columns.received_at, columns.key)
    return order if oldest_first else tuple(column.desc() for column in order)


def _beyond(position: tuple[datetime, str], oldest_first: bool) -> ColumnElement[bool]:
    place = tuple_(cases.c.received_at, cases.c.key)
    start = tuple_(literal(position[0], UtcTime()), literal(position[1]))
    return place > start if oldest_first else place < start


def _cursor(received_at: datetime, key: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([received_at.isoformat(), key]).encode()).decode()


def _position(cursor: str) -> tuple[datetime, str]:
    try:
        moment, key = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
        return datetime.fromisoformat(moment).astimezone(UTC), clean(key)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise BadInput(f"the cursor {cursor[:80]!r} is not one this ledger gave; start at the first page") from error
