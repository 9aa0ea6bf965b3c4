"""What an author or a thread was already answered, or is about to be, found without knowing which it is."""

from __future__ import annotations

from pydantic import BaseModel
from sqlalchemy import Select, bindparam, select

from core.domain import clean
from ledger.database import Database
from ledger.tables import IS_ANSWERED, cases, drafts
from ledger.uninterrupted import uninterrupted

MOST_REPLIES = 20
"""Cases of an author, and of a thread, that are looked at, those received last."""
LONGEST_REPLY = 2_000
"""Characters of a reply that is given back: no draft is longer, so none can repeat a longer one."""

_own = cases.alias("own")


def _replies(column: str) -> Select[str | None, str | None]:
    """Return the query for the replies in the other cases that have the same hash in a column."""
    same = select(_own.c[column]).where(_own.c.key == bindparam("own")).scalar_subquery()
    return (
        select(cases.c.final_text, drafts.c.draft)
        .select_from(cases)
        .outerjoin(drafts, (drafts.c.case_key == cases.c.key) & (drafts.c.number == cases.c.request_number))
        .where(cases.c[column] == same, IS_ANSWERED, cases.c.key != bindparam("own"))
        .order_by(cases.c.received_at.desc())
        .limit(MOST_REPLIES)
    )


# Two queries, for one with OR would use no index.
_REPLIES = (_replies("author_hash"), _replies("thread_hash"))
_APPROVED_REPLIES = tuple(query.where(cases.c.final_text.is_not(None)) for query in _REPLIES)


class _Text(BaseModel):
    """A stored draft, of which the text alone is read."""

    text: str


class Replies:
    """The texts that author and thread of a case were answered in other cases; both are keyed hashes here."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def near(self, key: str, *, approved_only: bool = False) -> tuple[str, ...]:
        """Return the texts shown, approved or sent in other cases of the author, then of the thread, the latest first.

        Of a case with a decision it is the approved text, else the newest draft's; with `approved_only` drafts don't
        count. There are at most MOST_REPLIES of each, and none where the case is not known or has neither.
        """
        queries = _APPROVED_REPLIES if approved_only else _REPLIES
        async with self._database.read() as connection:
            rows = [row for query in queries for row in await connection.execute(query, {"own": clean(key)})]
        texts = (final or _text(draft) for final, draft in rows)
        return tuple(dict.fromkeys(text for text in texts if 0 < len(text) <= LONGEST_REPLY))


def _text(draft: str | None) -> str:
    return "" if draft is None else _Text.model_validate_json(draft).text
