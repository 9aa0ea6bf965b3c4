"""The queue: cases one by one, page by page, counted, and those the machine has left lying."""

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
"""Changes of the counts that are left as they are."""

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
    """One page of cases and, unless it is the last, where the next one begins."""

    cases: tuple[Case, ...]
    next_cursor: str | None


class Cases:
    """The cases, one by one and as a queue."""

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
        """Return the cases with these keys, in their order; unknown ones are left out, and candidates of drafts."""
        async with self._database.read() as connection:
            return await find_cases(connection, keys)

    @uninterrupted
    async def page(
        self, *, states: Collection[CaseState] = (), group: TargetGroup | None = None, platform: str | None = None,
        claimed_by: str | None = None, mine: str | None = None, doubtful: bool | None = None,
        handled: bool | None = None, appealed: bool | None = None, hidden: Collection[TargetGroup] = (),
        search: str = "", limit: int = 50, cursor: str | None = None, oldest_first: bool = True,
    ) -> CasePage:  # fmt: skip
        """Return up to `limit` cases in the order they were received, of any state unless some are named.

        With `doubtful` True only those that triage doubted and nobody asked a draft of, with False only the others; in
        the same way `handled` and `appealed`. With `mine` only those that a moderator holds or was assigned. Those that
        attack no other groups than `hidden` are left out.
        With `search` only those that have each of its words in post, drafts, sent text, key or groups. Their drafts
        come without candidates. `cursor` is the `next_cursor` of the page before; cases that arrive or
        move between two pages make none appear twice. Raises BadInput for a foreign cursor or a limit outside 1 to
        1,000.
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
        """Count the cases in each state; every state is there."""
        async with self._database.read() as connection:
            counted = {CaseState(state): int(number) for state, number in await connection.execute(_COUNTS)}
        return {state: counted.get(state, 0) for state in CaseState}

    @uninterrupted
    async def sum_up_counts(self) -> None:
        """Make one row of the many changes of each state's count, so that `counts` stays quick; safe at any time."""
        async with self._database.write(durable=False) as connection:
            if (await connection.execute(_CHANGES)).scalar_one() <= MAX_CHANGES:
                return
            sums: Counter[str] = Counter()
            for state, change in await connection.execute(_TAKE_CHANGES):
                sums[state] += change
            rows = [{"state": state, "change": number} for state, number in sums.items()]
            # Another process may have summed them up while this one waited for its rows.
            if rows:
                await connection.execute(insert(state_counts), rows)

    @uninterrupted
    async def count_doubtful(self) -> int:
        """Count the pending cases of which a moderator is asked whether they are hateful at all."""
        async with self._database.read() as connection:
            return int((await connection.execute(_DOUBTFUL)).scalar_one())

    @uninterrupted
    async def count_handled(self) -> int:
        """Count the escalated cases that somebody has seen to."""
        async with self._database.read() as connection:
            return int((await connection.execute(_HANDLED)).scalar_one())

    @uninterrupted
    async def count_appealed(self) -> int:
        """Count the cases against whose end an appeal waits."""
        async with self._database.read() as connection:
            return int((await connection.execute(_APPEALED)).scalar_one())

    @uninterrupted
    async def stale(self, older_than: datetime, limit: int) -> list[Case]:
        """Return cases the machine owes a step and has not moved since `older_than`, the longest waiting first.

        Their drafts come without candidates.
        """
        async with self._database.read() as connection:
            keys = (await connection.execute(_STALE, {"before": older_than, "limit": limit})).scalars().all()
            return await find_cases(connection, keys)

    @uninterrupted
    async def touch(self, keys: Sequence[str]) -> None:
        """Mark unfinished cases as just looked at, so that `stale` passes them over for a while; no new version."""
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
    # One ordered walk of the index for each state, then a merge: `state IN (…)` would sort every case in those states.
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
