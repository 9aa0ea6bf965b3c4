"""Which dead letters were replayed, so that no replay sends one twice."""

from __future__ import annotations

from sqlalchemy import select

from ledger.database import Database
from ledger.tables import replayed_letters
from ledger.uninterrupted import uninterrupted


class ReplayedLetters:
    """The ids of the dead letters that were replayed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def has(self, id: str) -> bool:
        """Tell whether a letter was replayed before."""
        query = select(replayed_letters.c.id).where(replayed_letters.c.id == id)
        async with self._database.read() as connection:
            return (await connection.execute(query)).first() is not None

    @uninterrupted
    async def note(self, id: str) -> None:
        """Record that a letter was replayed."""
        new = self._database.insert_new(replayed_letters).values(id=id, at=self._database.clock())
        async with self._database.write() as connection:
            await connection.execute(new)
