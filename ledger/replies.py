"""Earlier replies to the same author or in the same thread, both known only by keyed hashes."""

from __future__ import annotations

from pydantic import BaseModel
from sqlalchemy import Select, bindparam, select

from core.domain import clean
from ledger.database import Database
from ledger.tables import IS_ANSWERED, cases, drafts
from ledger.uninterrupted import uninterrupted

MOST_REPLIES = 20
"""Number of newest cases of an author, and of a thread, that are searched."""
LONGEST_REPLY = 2_000
"""Longest reply that is returned, in characters: no draft is longer, so none can repeat a longer one."""

_own = cases.alias("own")


def _replies(column: str) -> Select[str | None, str | None]:
    """Return the query for the replies in other cases with the same hash in `column`."""
    same = select(_own.c[column]).where(_own.c.key == bindparam("own")).scalar_subquery()
    return (
        select(cases.c.final_text, drafts.c.draft)
        .select_from(cases)
        .outerjoin(drafts, (drafts.c.case_key == cases.c.key) & (drafts.c.number == cases.c.request_number))
        .where(cases.c[column] == same, IS_ANSWERED, cases.c.key != bindparam("own"))
        .order_by(cases.c.received_at.desc())
        .limit(MOST_REPLIES)
    )


# Two queries, because one with OR would use no index.
_REPLIES = (_replies("author_hash"), _replies("thread_hash"))
_APPROVED_REPLIES = tuple(query.where(cases.c.final_text.is_not(None)) for query in _REPLIES)


class _Text(BaseModel):
    """A stored draft of which only the text is parsed."""

    text: str


class Replies:
    """Reads the replies to a case's author and thread in other cases."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def near(self, key: str, *, approved_only: bool = False) -> tuple[str, ...]:
        """Return the replies to the case's author in other cases, then those in its thread, newest first.

        For a case with a decision this is the approved text, otherwise the newest draft, which `approved_only` leaves
        out. At most MOST_REPLIES cases each are searched; the result is empty if the case is unknown or has neither
        author nor thread.
        """
        queries = _APPROVED_REPLIES if approved_only else _REPLIES
        async with self._database.read() as connection:
            rows = [row for query in queries for row in await connection.execute(query, {"own": clean(key)})]
        texts = (final or _text(draft) for final, draft in rows)
        return tuple(dict.fromkeys(text for text in texts if 0 < len(text) <= LONGEST_REPLY))


def _text(draft: str | None) -> str:
    return "" if draft is None else _Text.model_validate_json(draft).text
