"""What an author was already answered, or is about to be: the texts, found without knowing who it is."""

from __future__ import annotations

from pydantic import BaseModel
from sqlalchemy import bindparam, select

from core.domain import clean
from ledger.database import Database
from ledger.tables import IS_ANSWERED, cases, drafts
from ledger.uninterrupted import uninterrupted

MOST_REPLIES = 20
"""Cases of an author that are looked at, those received last."""
LONGEST_REPLY = 2_000
"""Characters of a reply that is given back: no draft is longer, so none can repeat a longer one."""

_own = cases.alias("own")
_AUTHOR = select(_own.c.author_hash).where(_own.c.key == bindparam("own")).scalar_subquery()
_REPLIES = (
    select(cases.c.final_text, drafts.c.draft)
    .select_from(cases)
    .outerjoin(drafts, (drafts.c.case_key == cases.c.key) & (drafts.c.number == cases.c.request_number))
    .where(cases.c.author_hash == _AUTHOR, IS_ANSWERED, cases.c.key != bindparam("own"))
    .order_by(cases.c.received_at.desc())
    .limit(MOST_REPLIES)
)
_APPROVED_REPLIES = _REPLIES.where(cases.c.final_text.is_not(None))


class _Text(BaseModel):
    """A stored draft, of which the text alone is read."""

    text: str


class Replies:
    """The texts that the author of a case was answered in other cases; an author is a keyed hash here."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def to_author_of(self, key: str, *, approved_only: bool = False) -> tuple[str, ...]:
        """Return the texts shown, approved or sent in the author's other cases, the latest case's first.

        Of a case with a decision it is the approved text, else the newest draft's; with `approved_only` drafts don't
        count. There are at most MOST_REPLIES, and none where the case is not known or has no author.
        """
        query = _APPROVED_REPLIES if approved_only else _REPLIES
        async with self._database.read(single=True) as connection:
            rows = (await connection.execute(query, {"own": clean(key)})).all()
        texts = (final or _text(draft) for final, draft in rows)
        return tuple(dict.fromkeys(text for text in texts if 0 < len(text) <= LONGEST_REPLY))


def _text(draft: str | None) -> str:
    return "" if draft is None else _Text.model_validate_json(draft).text
