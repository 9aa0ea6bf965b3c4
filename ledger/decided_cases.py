"""Cases that moderators closed, as training data; cases and moderators appear as keyed hashes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from sqlalchemy import bindparam, or_, select

from core.domain import Action, Case, CaseState
from ledger.database import Database
from ledger.privacy import Pseudonyms
from ledger.rows import with_drafts
from ledger.tables import cases, history
from ledger.uninterrupted import uninterrupted

PAGE = 200
_CLOSED = (CaseState.APPROVED, CaseState.RELEASED, CaseState.REJECTED, CaseState.DISMISSED)
_PAGE = (
    select(cases)
    .where(
        cases.c.key > bindparam("after"),
        cases.c.state.in_(_CLOSED),
        cases.c.decided_by.is_not(None),
        cases.c.erased_at.is_(None),
        or_(cases.c.release_at.is_(None), cases.c.release_at <= bindparam("now")),
    )
    .order_by(cases.c.key)
    .limit(PAGE)
)
_REDRAFTS = (
    select(history.c.who)
    .where(history.c.case_key == bindparam("key"), history.c.kind == Action.REDRAFT)
    .order_by(history.c.version)
)


@dataclass(frozen=True)
class DecidedCase:
    """A case that a moderator closed, with its drafts and their candidates.

    `id` is a hash of its key, `decider` of the moderator who closed it, and `redrafters` of those who requested each
    further draft, in order. One person always has the same hash.
    """

    id: str
    case: Case
    decider: str
    redrafters: tuple[str, ...]


class DecidedCases:
    """The closed cases whose texts have not been erased and whose undo window is over."""

    def __init__(self, database: Database, pseudonyms: Pseudonyms) -> None:
        self._database = database
        self._pseudonyms = pseudonyms

    async def all(self) -> AsyncIterator[DecidedCase]:
        """Yield the cases in order of their keys, with at most PAGE of them in memory. Raises LedgerUnavailable."""
        page = await self._page("")
        while page:
            for decided in page:
                yield decided
            page = await self._page(page[-1].case.key)

    @uninterrupted
    async def _page(self, after: str) -> list[DecidedCase]:
        async with self._database.read() as connection:
            parameters = {"after": after, "now": self._database.clock()}
            rows = (await connection.execute(_PAGE, parameters)).mappings().all()
            decided = []
            for row in rows:
                redrafters = (await connection.execute(_REDRAFTS, {"key": row["key"]})).scalars().all()
                decided.append(
                    DecidedCase(
                        id=self._pseudonyms.case(row["key"]),
                        case=await with_drafts(connection, row),
                        decider=self._pseudonyms.moderator(row["decided_by"]),
                        redrafters=tuple(map(self._pseudonyms.moderator, redrafters)),
                    )
                )
        return decided
