"""The desk sessions open in browsers, so that each can be listed and ended from elsewhere.

A row grants no access: the cookie is signed with its owner's token, which is in no table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Column, Select, String, Table, Text, delete, insert, select

from ledger.database import Database
from ledger.tables import UtcTime, metadata
from ledger.uninterrupted import uninterrupted

ID_LENGTH = 32
BROWSER_LENGTH = 200

sessions = Table(
    "sessions",
    metadata,
    Column("id", String(ID_LENGTH), primary_key=True),
    Column("who", Text, nullable=False),
    Column("opened_at", UtcTime, nullable=False),
    Column("until", UtcTime, nullable=False),
    Column("browser", String(BROWSER_LENGTH), nullable=False),
)


@dataclass(frozen=True)
class OpenSession:
    """One browser that is logged in; `browser` is the name it reports."""

    id: str
    who: str
    opened_at: datetime
    until: datetime
    browser: str


class OpenSessions:
    """The sessions of all moderators; expired ones are ignored, and deleted at the next login."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def add(self, session: OpenSession) -> None:
        """Record a new session."""
        row = vars(session) | {"browser": session.browser[:BROWSER_LENGTH]}
        async with self._database.write() as connection:
            await connection.execute(delete(sessions).where(sessions.c.until <= self._database.clock()))
            await connection.execute(insert(sessions).values(row))

    @uninterrupted
    async def find(self, id: str) -> OpenSession | None:
        """Return an open session, or None."""
        return next(iter(await self._open(select(sessions).where(sessions.c.id == id))), None)

    @uninterrupted
    async def list(self, who: str | None = None) -> Sequence[OpenSession]:
        """Return the open sessions of one person or of all, newest first."""
        query = select(sessions).order_by(sessions.c.opened_at.desc(), sessions.c.id)
        return await self._open(query if who is None else query.where(sessions.c.who == who))

    @uninterrupted
    async def end(self, id: str) -> None:
        """End a session, if it is still open."""
        async with self._database.write() as connection:
            await connection.execute(delete(sessions).where(sessions.c.id == id))

    async def _open(self, query: Select[tuple[object, ...]]) -> Sequence[OpenSession]:
        async with self._database.read() as connection:
            rows = await connection.execute(query.where(sessions.c.until > self._database.clock()))
            return [OpenSession(**row) for row in rows.mappings()]
