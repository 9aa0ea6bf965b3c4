"""Which card of which case was posted where, so that none is missing or posted twice, even after a crash.

A card is *reserved* before it is posted, and *posted* once the platform has returned a message id. `unfinished` finds
reservations left behind by a crash: their message may or may not exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, bindparam, delete, func, insert, or_, select, update

from core.domain import CaseState, clean
from core.errors import CaseNotFound
from ledger.chat_tables import IS_UNSETTLED, cards, case_numbers, notices
from ledger.database import Database
from ledger.tables import cases
from ledger.uninterrupted import uninterrupted

ESCALATED_FOR = timedelta(days=1)
"""For how long an escalated case can still get a card, for example after the bot was down."""

CardKey = tuple[str, str, str]
"""Surface, server, case key."""

_ONE = and_(
    cards.c.surface == bindparam("a"), cards.c.server == bindparam("b"), cards.c.case_key == bindparam("c")
)  # fmt: skip
_NUMBER = select(case_numbers.c.number).where(case_numbers.c.case_key == bindparam("key"))


@dataclass(frozen=True)
class PostedCard:
    """A case's card and the message that shows it; `message` is None until the post is confirmed.

    - `version` is the version of the case that the card shows.
    - `stale_at` is when the card becomes outdated without a transition.
    - `unsettled`: the case may still change, so the card is checked again.
    - `counted_only`: the case has no card of its own and only counts in a surge notice.
    """

    surface: str
    server: str
    case_key: str
    channel: str
    message: str | None
    version: int
    stale_at: datetime | None
    counted_only: bool
    unsettled: bool
    at: datetime


@dataclass(frozen=True)
class Notice:
    """One message that is updated instead of being repeated: about a surge, a reminder or escalations.

    `last_id` is the newest history row that it covers, if it covers any.
    """

    surface: str
    server: str
    channel: str
    topic: str
    message: str
    count: int
    since: datetime
    at: datetime
    last_id: int | None = None


@dataclass(frozen=True)
class UncardedCase:
    """A case without a card, with just enough fields to tell whether it has changed."""

    key: str
    version: int
    platform: str
    received_at: datetime


class Cards:
    """The cards on every surface and server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def number_of(self, key: str) -> int:
        """Return the case's short number, assigned once; it fits into a button's id and is easy to type."""
        async with self._database.read() as connection:
            number = (await connection.execute(_NUMBER, {"key": key})).scalar_one_or_none()
        if number is not None:
            return int(number)
        async with self._database.write() as connection:
            await connection.execute(self._database.insert_new(case_numbers).values(case_key=key))
            return int((await connection.execute(_NUMBER, {"key": key})).scalar_one())

    @uninterrupted
    async def key_of(self, number: int) -> str:
        """Return the key of the case with this number; raises CaseNotFound."""
        query = select(case_numbers.c.case_key).where(case_numbers.c.number == number)
        async with self._database.read() as connection:
            key = (await connection.execute(query)).scalar_one_or_none() if 0 < number < 2**62 else None
        if key is None:
            raise CaseNotFound(f"There is no case number {number}; look it up in the queue.")
        return str(key)

    @uninterrupted
    async def reserve(self, surface: str, server: str, key: str, channel: str, *, counted_only: bool = False) -> bool:
        """Reserve a card before posting it. Return False if it is already reserved or posted."""
        row = {
            "surface": surface, "server": server, "case_key": key, "channel": channel, "version": 0,
            "counted_only": counted_only, "unsettled": not counted_only, "at": self._database.clock(),
        }  # fmt: skip
        async with self._database.write() as connection:
            new = await connection.execute(self._database.insert_new(cards).values(row).returning(cards.c.case_key))
            return new.scalar_one_or_none() is not None

    @uninterrupted
    async def record_message(
        self, surface: str, server: str, key: str, message: str, version: int, stale_at: datetime | None = None,
        *, unsettled: bool = True,
    ) -> None:  # fmt: skip
        """Record the message of a card and what it shows; `unsettled` is False if it shows the end of the case."""
        values = {"message": message, "version": version, "stale_at": stale_at, "unsettled": unsettled}
        async with self._database.write() as connection:
            await connection.execute(update(cards).where(_ONE).values(values), _bound((surface, server, key)))

    @uninterrupted
    async def forget(self, surface: str, server: str, key: str) -> None:
        """Forget a card whose message is gone; an open case then gets a new one."""
        async with self._database.write() as connection:
            await connection.execute(delete(cards).where(_ONE), _bound((surface, server, key)))

    @uninterrupted
    async def find(self, surface: str, server: str, key: str) -> PostedCard | None:
        """Return a case's card, or None."""
        async with self._database.read() as connection:
            rows = (await connection.execute(select(cards).where(_ONE), _bound((surface, server, key)))).mappings()
            row = rows.one_or_none()
        return None if row is None else PostedCard(**row)

    @uninterrupted
    async def missing(
        self, surface: str, server: str, limit: int = 200, after: UncardedCase | None = None
    ) -> list[UncardedCase]:
        """Return cases that need a card on a server and have none, oldest first, starting after `after`.

        A case in doubt gets its card only once somebody has requested a draft.
        """
        has_card = (
            select(cards.c.case_key)
            .where(cards.c.surface == surface, cards.c.server == server, cards.c.case_key == cases.c.key)
            .exists()
        )
        fresh = cases.c.updated_at >= self._database.clock() - ESCALATED_FOR
        waiting = and_(cases.c.state == CaseState.PENDING, cases.c.doubtful.is_(False))
        seen = or_(waiting, and_(cases.c.state == CaseState.ESCALATED, fresh))
        columns = (cases.c.key, cases.c.version, cases.c.platform, cases.c.received_at)
        query = select(*columns).where(seen, cases.c.erased_at.is_(None), ~has_card)
        if after is not None:
            later = and_(cases.c.received_at == after.received_at, cases.c.key > after.key)
            query = query.where(or_(cases.c.received_at > after.received_at, later))
        query = query.order_by(cases.c.received_at, cases.c.key).limit(limit)
        async with self._database.read() as connection:
            return [UncardedCase(**row) for row in (await connection.execute(query)).mappings()]

    @uninterrupted
    async def outdated(self, surface: str, servers: Sequence[str], limit: int = 200) -> list[PostedCard]:
        """Return posted cards that no longer match their case, oldest first."""
        changed = or_(cards.c.version != cases.c.version, cards.c.stale_at <= self._database.clock())
        query = (
            select(cards)
            .join(cases, cases.c.key == cards.c.case_key)
            .where(cards.c.surface == surface, cards.c.server.in_(servers), IS_UNSETTLED, changed)
            .where(cards.c.message.is_not(None))
            .order_by(cards.c.at)
            .limit(limit)
        )
        return await self._posted_cards(query)

    @uninterrupted
    async def unfinished(self, surface: str, servers: Sequence[str], before: datetime) -> list[PostedCard]:
        """Return cards reserved before a moment whose posting was never confirmed."""
        query = (
            select(cards)
            .where(cards.c.surface == surface, cards.c.server.in_(servers), IS_UNSETTLED, cards.c.at < before)
            .where(cards.c.message.is_(None))
        )
        return await self._posted_cards(query)

    @uninterrupted
    async def count_recent(self, surface: str, server: str, channel: str, since: datetime) -> int:
        """Count the cards posted to a channel since a moment."""
        query = select(func.count()).where(
            cards.c.surface == surface, cards.c.server == server, cards.c.channel == channel, cards.c.at >= since,
            ~cards.c.counted_only,
        )  # fmt: skip
        async with self._database.read() as connection:
            return int((await connection.execute(query)).scalar_one())

    @uninterrupted
    async def find_notice(self, surface: str, server: str, channel: str, topic: str) -> Notice | None:
        """Return the current message about a topic, or None."""
        query = select(notices).where(*_notice(surface, server, channel, topic))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().one_or_none()
        return None if row is None else Notice(**row)

    @uninterrupted
    async def record_notice(self, notice: Notice) -> None:
        """Record a message about a topic, replacing the previous one."""
        same_topic = _notice(notice.surface, notice.server, notice.channel, notice.topic)
        async with self._database.write() as connection:
            await connection.execute(delete(notices).where(*same_topic))
            await connection.execute(insert(notices).values(vars(notice)))

    async def _posted_cards(self, query: Any) -> list[PostedCard]:
        async with self._database.read() as connection:
            return [PostedCard(**row) for row in (await connection.execute(query)).mappings()]


def _bound(card: CardKey) -> dict[str, str]:
    surface, server, key = card
    return {"a": surface, "b": server, "c": clean(key)}


def _notice(surface: str, server: str, channel: str, topic: str) -> list[Any]:
    return [
        notices.c.surface == surface, notices.c.server == server, notices.c.channel == channel,
        notices.c.topic == topic,
    ]  # fmt: skip
