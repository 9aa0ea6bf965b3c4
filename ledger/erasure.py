"""Erase the texts of cases, and prune whole cases, on request or at the end of a retention period.

An erased case keeps its key, groups, states, times and deciders: it is still counted, and its history can still be
verified. A pruned case leaves a tombstone that names neither the post nor any person.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Select, bindparam, delete, func, insert, select, text, update

from core.domain import CaseState, DraftRequest, FlaggedPost, clean
from core.errors import CaseNotFound, NotAllowed
from core.lifecycle import ERASURE, TopicRole
from ledger.chain import chain_key, row_digest
from ledger.chat_tables import cards
from ledger.connection import Connection
from ledger.database import Database
from ledger.outbox_messages import enqueue, outcome, withdraw
from ledger.personal_data import DELETED, emptied, tables_of_a_case
from ledger.privacy import Pseudonyms
from ledger.rows import request_columns
from ledger.tables import IS_OPEN, OutboxStatus, cases, history, outbox, tombstones, uncoverings
from ledger.transition import UNCLAIMED, Move, move
from ledger.uninterrupted import uninterrupted

ERASED_TEXT = "[erased]"
"""Replaces the text of an erased post."""

_NOW = select(func.now())
_OF_CASE = select(cases).where(cases.c.key == bindparam("case")).with_for_update()
_OLD = cases.c.received_at < bindparam("before")
_DUE_FOR_ERASURE = (
    select(cases.c.key).where(cases.c.erased_at.is_(None), _OLD).order_by(cases.c.received_at, cases.c.key)
)
# All states are listed so that the queue's index is used.
_DUE_FOR_PRUNING = (
    select(cases.c.key)
    .where(cases.c.state.in_(tuple(CaseState)), cases.c.erased_at.is_not(None), _OLD)
    .order_by(cases.c.received_at, cases.c.key)
)
_FORGET_WORDS = update(history).where(history.c.case_key == bindparam("case")).values(why="", salt=None)
_OPEN_ROWS = select(outbox.c.id, outbox.c.topic, outbox.c.value).where(outbox.c.case_key == bindparam("case"), IS_OPEN)
_IS_DONE = outbox.c.status.in_((OutboxStatus.SENT, OutboxStatus.CANCELLED))
_EMPTY_OUTBOX = update(outbox).where(outbox.c.case_key == bindparam("case"), _IS_DONE).values(emptied(outbox))
_SHOW_AGAIN = update(cards).where(cards.c.case_key == bindparam("case")).values(unsettled=True)
_STILL_SHOWN = select(cards.c.case_key).where(
    cards.c.case_key == bindparam("case"), cards.c.message.is_not(None), cards.c.unsettled.is_(True)
)
_PRUNED_AT = select(func.max(tombstones.c.pruned_at)).where(tombstones.c.key_hash == bindparam("hash"))
_LAST = (
    select(history.c.digest, history.c.version)
    .where(history.c.case_key == bindparam("case"))
    .order_by(history.c.version.desc())
    .limit(1)
)


class Erasure:
    """The removal of personal data from the ledger."""

    def __init__(self, database: Database, pseudonyms: Pseudonyms) -> None:
        self._database = database
        self._pseudonyms = pseudonyms

    @uninterrupted
    async def cases_of(self, platform: str, author_id: str) -> list[str]:
        """Return the keys of an author's cases, oldest first, without erased cases, whose author is no longer known."""
        author = self._pseudonyms.author_of(platform, clean(author_id))
        query = select(cases.c.key).where(cases.c.author_hash == author).order_by(cases.c.received_at, cases.c.key)
        async with self._database.read() as connection:
            return list((await connection.execute(query)).scalars())

    @uninterrupted
    async def erase(self, key: str, who: str, why: str) -> bool:
        """Erase a case's texts and dismiss it unless it is closed. Return False if they had been erased before.

        Chats blank its cards at their next pass. Raises CaseNotFound, or NotAllowed while its reply is being released.
        """
        async with self._overwriting() as connection:
            row = (await connection.execute(_OF_CASE, {"case": clean(key)})).mappings().one_or_none()
            if row is None:
                raise CaseNotFound(f"there is no case {clean(key)}; look its key up in the queue")
            if row["erased_at"] is not None:
                return False
            await self._erase(connection, row, who, why)
            return True

    @uninterrupted
    async def now(self) -> datetime:
        """Return the time of the database server's clock, or for SQLite this machine's.

        Erasure is irreversible, so the clock of one process among many must not decide what is due.
        """
        if self._database.is_sqlite:
            return self._database.clock()
        async with self._database.read(single=True) as connection:
            return cast("datetime", (await connection.execute(_NOW)).scalar_one())

    @uninterrupted
    async def due(self, before: datetime, limit: int, skip: int = 0) -> list[str]:
        """Return the keys of cases received before a moment whose texts are not erased yet, oldest first."""
        return await self._keys(_DUE_FOR_ERASURE, before, limit, skip)

    @uninterrupted
    async def prunable(self, before: datetime, limit: int, skip: int = 0) -> list[str]:
        """Return the keys of erased cases received before a moment, oldest first."""
        return await self._keys(_DUE_FOR_PRUNING, before, limit, skip)

    @uninterrupted
    async def prune(self, key: str) -> bool:
        """Delete an erased case but for a tombstone. Return False while a chat shows it or a message is unsent.

        Raises CaseNotFound for a case that is pruned already.
        """
        async with self._overwriting() as connection:
            row = (await connection.execute(_OF_CASE, {"case": key})).mappings().one_or_none()
            if row is None:
                raise CaseNotFound(f"there is no case {clean(key)}; it was pruned just now")
            if row["erased_at"] is None:
                return False
            for still_needed in (_STILL_SHOWN, _OPEN_ROWS):
                if (await connection.execute(still_needed, {"case": key})).first() is not None:
                    return False
            await self._leave_tombstone(connection, row)
            for table in tables_of_a_case():
                await connection.execute(delete(table).where(table.c.case_key == key))
            await connection.execute(delete(cases).where(cases.c.key == key))
            return True

    @uninterrupted
    async def pruned_at(self, key: str) -> datetime | None:
        """Return when a case with this key was last pruned, or None if none ever was."""
        async with self._database.read(single=True) as connection:
            moment = await connection.execute(_PRUNED_AT, {"hash": self._pseudonyms.case(clean(key))})
            return cast("datetime | None", moment.scalar_one())

    @uninterrupted
    async def forget_logs(self, before: datetime) -> tuple[int, int]:
        """Delete sent messages and records of uncovered posts from before a moment; return how many of each."""
        async with self._overwriting() as connection:
            messages = await connection.execute(delete(outbox).where(_IS_DONE, outbox.c.created_at < before))
            looks = await connection.execute(delete(uncoverings).where(uncoverings.c.at < before))
            return messages.rowcount, looks.rowcount

    async def overwrite(self) -> None:
        """Remove erased data from the database's log as well, where that is possible."""
        await self._database.overwrite()

    @asynccontextmanager
    async def _overwriting(self) -> AsyncIterator[Connection]:
        """Open a write transaction in which SQLite overwrites what it deletes."""
        async with self._database.write() as connection:
            if self._database.is_sqlite:
                await connection.execute(text("PRAGMA secure_delete=ON"))
            yield connection

    async def _erase(self, connection: Connection, row: Any, who: str, why: str) -> None:
        key, state, at = row["key"], CaseState(row["state"]), self._database.clock()
        to = ERASURE.leads_to[0] if state in ERASURE.takes else None
        withdrawn = to is not None and await withdraw(connection, key)
        if state is CaseState.APPROVED and not withdrawn:
            raise NotAllowed(f"the reply of case {key} is being released; erase its texts when that is over")
        await connection.execute(_FORGET_WORDS, {"case": key})
        moved = await move(connection, key, Move((state,), to, at, who, clean(why), _left_of(row, at)))
        assert moved is not None, "the case is locked"
        for table in DELETED:
            await connection.execute(delete(table).where(table.c.case_key == key))
        await _blank_owed_messages(connection, key)
        await connection.execute(_EMPTY_OUTBOX, {"case": key})
        await connection.execute(_SHOW_AGAIN, {"case": key})
        if to is not None:
            await enqueue(connection, outcome(moved, at, who, clean(why)), at)

    async def _leave_tombstone(self, connection: Connection, row: Any) -> None:
        last = (await connection.execute(_LAST, {"case": row["key"]})).one()
        tombstone = {
            "key_hash": self._pseudonyms.case(row["key"]), "platform": row["platform"], "groups": row["groups"],
            "state": row["state"], "received_at": row["received_at"], "pruned_at": self._database.clock(),
            "transitions": last.version, "last_digest": last.digest,
        }  # fmt: skip
        digest = row_digest(chain_key(connection), tombstone, None)
        await connection.execute(insert(tombstones), {**tombstone, "digest": digest})

    async def _keys(self, query: Select[Any], before: datetime, limit: int, skip: int) -> list[str]:
        async with self._database.read() as connection:
            return list((await connection.execute(query.limit(limit).offset(skip), {"before": before})).scalars())


def _left_of(row: Any, at: datetime) -> dict[str, Any]:
    """Return the columns of an erased case: its keys, and the number and intent of its request.

    It is marked as handled: nothing can be done with it any more, so it must not wait in any queue.
    """
    stub = FlaggedPost(platform=row["platform"], post_id=row["post_id"], text=ERASED_TEXT)
    request = DraftRequest.model_validate_json(row["request"])
    bare_request = request_columns(DraftRequest(number=request.number, intent=request.intent))
    return {
        **emptied(cases), **UNCLAIMED, **bare_request, "post": stub.model_dump_json(), "doubtful": False,
        "handled": True, "appealed": False, "release_at": None, "erased_at": at,
    }  # fmt: skip


async def _blank_owed_messages(connection: Connection, key: str) -> None:
    """Cancel unsent requests for drafts, and blank the texts in unsent events."""
    for owed in (await connection.execute(_OPEN_ROWS, {"case": key})).all():
        values = {"status": OutboxStatus.CANCELLED, "value": ""}
        if owed.topic == TopicRole.OUTCOMES:
            event = json.loads(owed.value)
            values = {"value": json.dumps({name: _blank(name, value) for name, value in event.items()})}
        await connection.execute(update(outbox).where(outbox.c.id == owed.id).values(values))


def _blank(name: str, value: object) -> object:
    return "" if name in ("text", "why") and value is not None else value
