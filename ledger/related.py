"""Cases related to a case: by the same author, known only by a keyed hash, or with exactly the same text."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select

from core.domain import Case, CaseState, clean
from ledger.chat_tables import assignments
from ledger.database import Database
from ledger.rows import find_cases
from ledger.tables import IS_AUTHORED, cases
from ledger.uninterrupted import uninterrupted

MOST_RELATED = 100

_own = cases.alias("own")
_AUTHOR = select(_own.c.author_hash).where(_own.c.key == bindparam("own")).scalar_subquery()
_TEXT = select(_own.c.text_hash).where(_own.c.key == bindparam("own")).scalar_subquery()
_BY_AUTHOR = (
    select(cases.c.key)
    .where(IS_AUTHORED, cases.c.author_hash == _AUTHOR, cases.c.key != bindparam("own"))
    .order_by(cases.c.received_at.desc())
    .limit(bindparam("limit"))
)
_SAME_TEXT = (
    select(cases.c.key)
    .where(cases.c.text_hash == _TEXT, cases.c.key != bindparam("own"))
    .order_by(cases.c.received_at, cases.c.key)
    .limit(bindparam("limit"))
)
_COUNTED = (
    select(_own.c.key, func.count())
    .join(cases, (cases.c.text_hash == _own.c.text_hash) & (cases.c.key != _own.c.key))
    .where(_own.c.key.in_(bindparam("keys", expanding=True)), cases.c.state == CaseState.PENDING)
    .group_by(_own.c.key)
)
_ASSIGNEE = select(assignments.c.assignee).where(assignments.c.case_key == bindparam("key"))


class Related:
    """Reads related cases; their drafts come without candidates."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def by_author(self, key: str, limit: int) -> list[Case]:
        """Return up to `limit` other cases of the author, newest first; empty if the author is unknown."""
        async with self._database.read() as connection:
            keys = (await connection.execute(_BY_AUTHOR, {"own": clean(key), "limit": limit})).scalars().all()
            return await find_cases(connection, keys)

    @uninterrupted
    async def same_text(self, key: str, limit: int = MOST_RELATED) -> list[Case]:
        """Return up to `limit` other cases with the same text, by any author, oldest first."""
        async with self._database.read() as connection:
            keys = (await connection.execute(_SAME_TEXT, {"own": clean(key), "limit": limit})).scalars().all()
            return await find_cases(connection, keys)

    @uninterrupted
    async def waiting_with_same_text(self, keys: Sequence[str]) -> dict[str, int]:
        """Return key -> number of other pending cases with the same text; cases without any are left out."""
        if not keys:
            return {}
        async with self._database.read() as connection:
            counted = await connection.execute(_COUNTED, {"keys": list(keys)})
            return {key: int(number) for key, number in counted}

    @uninterrupted
    async def assignee(self, key: str) -> str | None:
        """Return to whom a case is assigned, or None."""
        async with self._database.read() as connection:
            return (await connection.execute(_ASSIGNEE, {"key": clean(key)})).scalar_one_or_none()
