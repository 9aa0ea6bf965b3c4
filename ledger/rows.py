"""Conversion between domain records and rows of the tables of cases and drafts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, Field, TypeAdapter
from sqlalchemy import bindparam, select

from core.domain import STORED, Candidate, Case, CaseState, Draft, DraftRequest, FlaggedPost, Grounding, Note, Triage
from ledger.connection import Connection
from ledger.privacy import Pseudonyms
from ledger.tables import cases, drafts

T = TypeVar("T", bound=BaseModel)

NOTES = TypeAdapter(tuple[Note, ...])
_ONE = select(cases).where(cases.c.key == bindparam("key"))
_MANY = select(cases).where(cases.c.key.in_(bindparam("keys", expanding=True)))
_DRAFTS = (
    select(drafts.c.case_key, drafts.c.draft)
    .where(drafts.c.case_key.in_(bindparam("keys", expanding=True)))
    .order_by(drafts.c.case_key, drafts.c.number)
)
_NEWEST_DRAFT = (
    select(drafts.c.draft).where(drafts.c.case_key == bindparam("case")).order_by(drafts.c.number.desc()).limit(1)
)
_SAME_NAME = (
    "version", "received_at", "updated_at", "claimed_by", "claimed_until", "decided_by", "decided_why", "final_text",
    "release_at", "error", "handled", "appealed", "retracted_at", "erased_at",
)  # fmt: skip


class _ListedDraft(Draft):
    """A draft parsed for lists: its candidates, most of its bytes, get an alias that never occurs and are skipped."""

    candidates: tuple[Candidate, ...] = Field((), validation_alias="not for lists")


def new_row(post: FlaggedPost, pseudonyms: Pseudonyms, at: datetime) -> dict[str, Any]:
    """Return the row of a case that was just received; ids of author and thread are stored only as hashes."""
    return {
        "key": post.key,
        "platform": post.platform,
        "post_id": post.post_id,
        "post": post.model_dump_json(exclude={"author_id", "thread_id"}),
        "author_hash": pseudonyms.author(post),
        "thread_hash": pseudonyms.thread(post),
        "fingerprint": pseudonyms.fingerprint(post),
        "text_hash": pseudonyms.text(post),
        "groups": 0,
        "doubtful": False,
        "state": CaseState.RECEIVED,
        "version": 1,
        "received_at": at,
        "updated_at": at,
        **request_columns(DraftRequest()),
    }


def request_columns(request: DraftRequest) -> dict[str, Any]:
    """Return the columns that hold a case's requested draft."""
    return {"request": request.model_dump_json(), "request_number": request.number}


async def find_case(connection: Connection, key: str) -> Case | None:
    """Return a case with its drafts, or None."""
    row = (await connection.execute(_ONE, {"key": key})).mappings().one_or_none()
    return None if row is None else await with_drafts(connection, row)


async def newest_draft(connection: Connection, key: str) -> Draft | None:
    """Return the newest draft of a case, which moderators are shown, or None."""
    json = (await connection.execute(_NEWEST_DRAFT, {"case": key})).scalar_one_or_none()
    return None if json is None else Draft.model_validate_json(json)


async def find_cases(connection: Connection, keys: Sequence[str]) -> list[Case]:
    """Return the cases in the order of `keys`, without their drafts' candidates, which are costly to parse."""
    if not keys:
        return []
    rows = {row["key"]: row for row in (await connection.execute(_MANY, {"keys": keys})).mappings()}
    drafts_by_case = await _drafts_of(connection, keys, _read_listed)
    return [_to_case(rows[key], drafts_by_case.get(key, ())) for key in keys if key in rows]


async def with_drafts(connection: Connection, row: Mapping[Any, Any]) -> Case:
    """Return the case in a complete row, with its drafts."""
    drafts_by_case = await _drafts_of(connection, [row["key"]], Draft.model_validate_json)
    return _to_case(row, drafts_by_case.get(row["key"], ()))


async def _drafts_of(
    connection: Connection, keys: Sequence[str], read: Callable[[str], Draft]
) -> dict[str, tuple[Draft, ...]]:
    drafts_by_case: dict[str, tuple[Draft, ...]] = {}
    for key, draft in await connection.execute(_DRAFTS, {"keys": keys}):
        drafts_by_case[key] = (*drafts_by_case.get(key, ()), read(draft))
    return drafts_by_case


def _read_listed(json: str) -> Draft:
    return Draft.model_construct(**dict(_ListedDraft.model_validate_json(json)))


def _to_case(row: Mapping[Any, Any], its_drafts: tuple[Draft, ...]) -> Case:
    return Case(
        post=FlaggedPost.model_validate_json(row["post"], context=STORED),
        state=CaseState(row["state"]),
        triage=_read(Triage, row["triage"]),
        grounding=_read(Grounding, row["grounding"]),
        request=DraftRequest.model_validate_json(row["request"]),
        drafts=its_drafts,
        notes=() if row["notes"] is None else NOTES.validate_json(row["notes"]),
        **{name: row[name] for name in _SAME_NAME},
    )


def _read(record: type[T], json: str | None) -> T | None:
    return None if json is None else record.model_validate_json(json)
