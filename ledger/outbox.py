"""The outbox: messages due to be sent to Kafka, leased by publishers until they are sent.

A publisher calls `lease`, then for each row `note_probe` (the topic's current end offsets), `renew`, sends the message,
and calls `note_sent` or `retry`. If it dies between sending and `note_sent`, its lease expires and the row is leased
again together with the probe: the next publisher searches the topic from there for the message.

Leases of a row are numbered, and each call names its lease. A publisher that was paused for longer than its lease
learns that from its next call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import RowMapping, Update, bindparam, func, select, update

from core.domain import clean
from core.lifecycle import PUBLICATION, TopicRole
from ledger.connection import Connection
from ledger.database import Database
from ledger.outbox_messages import enqueue, outcome
from ledger.tables import IS_OPEN, OutboxStatus, outbox
from ledger.transition import Move, move
from ledger.uninterrupted import uninterrupted


@dataclass(frozen=True)
class OutboxRow:
    """One leased message; `lease` is the number of this lease, and so of the attempt to send.

    `probe` maps partitions to the end offsets noted before the first attempt. If it is set, the message may already be
    on the topic.
    """

    id: int
    case_key: str
    topic: TopicRole
    key: str
    value: str
    headers: dict[str, str]
    due_at: datetime
    probe: dict[str, int] | None
    lease: int
    created_at: datetime


@dataclass(frozen=True)
class Backlog:
    """The number of due messages, and for how many seconds the oldest has been due."""

    rows: int
    oldest_s: float


_FREE = (
    select(outbox.c.id)
    .where(IS_OPEN, outbox.c.free_at <= bindparam("at"))
    .order_by(outbox.c.free_at, outbox.c.id)
    .limit(bindparam("limit"))
    # Lets two publishers on PostgreSQL share the rows; SQLite has one writer at a time.
    .with_for_update(skip_locked=True)
    .cte("free")
)
_LEASE = (
    update(outbox)
    .where(outbox.c.id.in_(select(_FREE.c.id)))
    .values(
        status=OutboxStatus.SENDING,
        lease_owner=bindparam("owner"),
        free_at=bindparam("until"),
        attempts=outbox.c.attempts + 1,
    )
    .returning(outbox)
)
_HELD = update(outbox).where(
    outbox.c.id == bindparam("row"),
    outbox.c.status == OutboxStatus.SENDING,
    outbox.c.lease_owner == bindparam("owner"),
    outbox.c.attempts == bindparam("lease"),
)
_NOTE = (
    _HELD.where(outbox.c.free_at > bindparam("at"))
    .values(probe=func.coalesce(outbox.c.probe, bindparam("noted")))
    .returning(outbox.c.id)
)
_RENEW = _HELD.where(outbox.c.free_at > bindparam("at")).values(free_at=bindparam("until")).returning(outbox.c.id)
_SENT = _HELD.values(status=OutboxStatus.SENT, sent_at=bindparam("at"), lease_owner=None).returning(outbox.c.id)
_RETRY = _HELD.values(
    status=OutboxStatus.WAITING, free_at=bindparam("again"), last_error=bindparam("error"), lease_owner=None
).returning(outbox.c.id)
_CANCEL = _HELD.values(status=OutboxStatus.CANCELLED, last_error=bindparam("error"), lease_owner=None).returning(
    outbox.c.id
)
_BACKLOG = select(func.count(), func.min(outbox.c.due_at)).where(IS_OPEN, outbox.c.due_at <= bindparam("at"))


class Outbox:
    """The outbox as publishers use it: leasing rows and recording the results. Several publishers may run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def lease(self, owner: str, lease_s: float, limit: int) -> list[OutboxRow]:
        """Lease up to `limit` due rows for `lease_s` seconds, longest due first.

        Rows whose lease expired are due again. A row is never leased to two owners at a time.
        """
        at = self._database.clock()
        until = at + timedelta(seconds=lease_s)
        async with self._database.write(durable=False) as connection:
            leased = await connection.execute(_LEASE, {"at": at, "limit": limit, "owner": owner, "until": until})
            rows = [_to_row(row) for row in leased.mappings()]
        return sorted(rows, key=lambda row: (row.due_at, row.id))

    @uninterrupted
    async def note_probe(self, row: OutboxRow, owner: str, probe: Mapping[str, int]) -> bool:
        """Record the topic's end offsets before the first attempt. False: the lease is lost, so don't send.

        A probe recorded by an earlier attempt is kept, because the search for the message must start there.
        """
        noted = json.dumps(dict(probe))
        return await self._change(_NOTE, row, owner, at=self._database.clock(), noted=noted)

    @uninterrupted
    async def renew(self, row: OutboxRow, owner: str, lease_s: float) -> bool:
        """Hold a row for `lease_s` seconds from now. False: the lease has expired or is lost, so don't send."""
        at = self._database.clock()
        return await self._change(_RENEW, row, owner, at=at, until=at + timedelta(seconds=lease_s))

    @uninterrupted
    async def note_sent(self, row: OutboxRow, owner: str) -> bool:
        """Record that the message is on the topic; a reply's case becomes released, and its outcome is queued.

        False: the row is not, or no longer, this owner's, and nothing changed.
        """
        at = self._database.clock()
        async with self._database.write() as connection:
            result = await connection.execute(_SENT, {**_held(row, owner), "at": at})
            held = result.first() is not None
            if held and row.topic is TopicRole.REPLIES:
                await _release(connection, row.case_key, at)
        return held

    @uninterrupted
    async def retry(self, row: OutboxRow, owner: str, error: str, due_at: datetime) -> bool:
        """Return a row after a failed attempt, to be leased again at `due_at`. False: not this owner's."""
        return await self._change(_RETRY, row, owner, error=clean(error), again=due_at)

    @uninterrupted
    async def cancel(self, row: OutboxRow, owner: str, error: str) -> bool:
        """Cancel a row that can never be sent. False: not this owner's."""
        return await self._change(_CANCEL, row, owner, error=clean(error))

    @uninterrupted
    async def backlog(self) -> Backlog:
        """Return what is due but not sent, including rows that wait for another attempt.

        Rows within an undo window are not due yet.
        """
        at = self._database.clock()
        async with self._database.read() as connection:
            rows, oldest = (await connection.execute(_BACKLOG, {"at": at})).one()
        return Backlog(rows, (at - oldest).total_seconds() if oldest else 0.0)

    async def _change(self, statement: Update, row: OutboxRow, owner: str, **values: Any) -> bool:
        async with self._database.write() as connection:
            return (await connection.execute(statement, {**_held(row, owner), **values})).first() is not None


def _held(row: OutboxRow, owner: str) -> dict[str, Any]:
    return {"row": row.id, "owner": owner, "lease": row.lease}


async def _release(connection: Connection, key: str, at: datetime) -> None:
    (released,) = PUBLICATION.leads_to
    row = await move(connection, key, Move(PUBLICATION.takes, released, at, None, "released"))
    if row is not None:
        await enqueue(connection, outcome(row, at, row["decided_by"], row["decided_why"]), at)


def _to_row(row: RowMapping) -> OutboxRow:
    return OutboxRow(
        id=row["id"],
        case_key=row["case_key"],
        topic=TopicRole(row["topic"]),
        key=row["key"],
        value=row["value"],
        headers=json.loads(row["headers"]),
        due_at=row["due_at"],
        probe=json.loads(row["probe"]) if row["probe"] else None,
        lease=row["attempts"],
        created_at=row["created_at"],
    )
