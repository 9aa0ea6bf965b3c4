"""The ledger as a whole: its parts, sharing one database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import select

from core.domain import now
from ledger.audit import Audit
from ledger.cards import Cards
from ledger.cases import Cases
from ledger.casework import Casework
from ledger.database import Database
from ledger.decided_cases import DecidedCases
from ledger.decisions import Decisions
from ledger.erasure import Erasure
from ledger.history import History
from ledger.holdings import Holdings
from ledger.migrate import check_schema, migrate
from ledger.moderator_settings import ModeratorSettings
from ledger.outbox import Outbox
from ledger.privacy import Pseudonyms
from ledger.related import Related
from ledger.replayed_letters import ReplayedLetters
from ledger.replies import Replies
from ledger.sessions import OpenSessions
from ledger.stages import Stages
from ledger.statistics import Statistics
from ledger.tables import cases
from ledger.uninterrupted import uninterrupted
from ledger.workloads import Workloads


class Ledger:
    """What happened to every post, in parts for different users.

    - Workers of the stream: `stages`.
    - Moderators: `decisions`, `casework`.
    - Publishers: `outbox`.
    - Chats: `cards`, `moderator_settings`.
    - The web desk: `sessions`.
    - Those responsible for personal data: `erasure`, `holdings`, `audit`.
    - Operators: `replayed_letters`.
    - Read-only parts: `cases`, `related`, `replies`, `history`, `statistics`, `workloads`, `decided_cases`.

    Every method of every part raises LedgerUnavailable if the database is unavailable.
    """

    def __init__(self, database: Database, author_key: bytes) -> None:
        self._database = database
        self.cases = Cases(database)
        self.replies = Replies(database)
        self.related = Related(database)
        self.history = History(database)
        pseudonyms = Pseudonyms(author_key)
        self.stages = Stages(database, pseudonyms)
        self.erasure = Erasure(database, pseudonyms)
        self.holdings = Holdings(database)
        self.audit = Audit(database, pseudonyms)
        self.decisions = Decisions(database)
        self.decided_cases = DecidedCases(database, pseudonyms)
        self.casework = Casework(database)
        self.outbox = Outbox(database)
        self.cards = Cards(database)
        self.moderator_settings = ModeratorSettings(database)
        self.statistics = Statistics(database)
        self.workloads = Workloads(database)
        self.sessions = OpenSessions(database)
        self.replayed_letters = ReplayedLetters(database)

    @classmethod
    async def open(
        cls, url: str, author_key: bytes, clock: Callable[[], datetime] = now, *, making: bool = True
    ) -> Ledger:
        """Connect to `sqlite+aiosqlite:///file.db` or `postgresql+asyncpg://…`; `author_key` hashes author ids.

        A missing file is created, or without `making` raises EmptyLedger. Raises BadSettings for any other URL or an
        empty key, LedgerUnavailable if the database does not answer.
        """
        database = Database(url, clock, author_key)
        try:
            ledger = cls(database, author_key)
            await database.open(making=making)
        except BaseException:
            await database.close()
            raise
        return ledger

    @uninterrupted
    async def migrate(self) -> None:
        """Upgrade the tables to the newest schema; safe if several processes do so at once."""
        await migrate(self._database)

    @uninterrupted
    async def check_schema(self) -> None:
        """Raise BadSettings unless the tables have the schema of this version; changes nothing."""
        await check_schema(self._database)

    @uninterrupted
    async def ping(self) -> None:
        """Check with a minimal query that the ledger can be read. Raises LedgerUnavailable."""
        async with self._database.read(single=True) as connection:
            await connection.execute(select(cases.c.key).limit(1))

    async def close(self) -> None:
        """Close all connections."""
        await self._database.close()
