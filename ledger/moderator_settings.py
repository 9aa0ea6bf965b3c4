"""Settings made by moderators: intents by scope, paused channels, muted sources, hidden groups, languages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Table, delete, insert, or_, select

from core.domain import Intent, TargetGroup, clean
from ledger.chat_tables import hidden_groups, intents, languages, switches
from ledger.database import Database
from ledger.uninterrupted import uninterrupted


class ScopeKind(StrEnum):
    """The scopes for which an intent can be set, from narrowest to widest."""

    GROUP = "group"
    LANGUAGE = "language"
    CHANNEL = "channel"
    SERVER = "server"


class SwitchKind(StrEnum):
    """What can be turned off on a server: cards in a channel, or those of a source."""

    PAUSED = "paused"
    MUTED = "muted"


@dataclass(frozen=True)
class SetIntent:
    """An intent set for a scope of a server; `scope` is empty for the whole server."""

    surface: str
    server: str
    kind: ScopeKind
    scope: str
    intent: Intent
    who: str
    at: datetime


@dataclass(frozen=True)
class Switch:
    """A paused channel (`scope` is its id) or a muted source (`scope` is a platform); `until` None means for good."""

    surface: str
    server: str
    kind: SwitchKind
    scope: str
    who: str
    at: datetime
    until: datetime | None


class ModeratorSettings:
    """The settings made by moderators."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @uninterrupted
    async def set_intent(
        self, surface: str, server: str, kind: ScopeKind, scope: str, intent: Intent | None, who: str
    ) -> None:
        """Set the intent of a scope, or clear it with None."""
        place = {"surface": surface, "server": server, "kind": kind, "scope": clean(scope)}
        row = None if intent is None else {**place, "intent": intent, "who": clean(who), "at": self._database.clock()}
        await self._replace(intents, place, row)

    @uninterrupted
    async def intents(self, surface: str | None = None, server: str | None = None) -> list[SetIntent]:
        """Return all intents that are set, optionally only those of one surface or server."""
        query = select(intents).order_by(intents.c.kind, intents.c.scope)
        query = query if surface is None else query.where(intents.c.surface == surface)
        query = query if server is None else query.where(intents.c.server == server)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings().all()
        kinds = [{"kind": ScopeKind(row["kind"]), "intent": Intent(row["intent"])} for row in rows]
        return [SetIntent(**{**row, **kind}) for row, kind in zip(rows, kinds, strict=True)]

    @uninterrupted
    async def switch(
        self, surface: str, server: str, kind: SwitchKind, scope: str, who: str, *, on: bool,
        until: datetime | None = None,
    ) -> None:  # fmt: skip
        """Turn a pause or mute on (until a moment, or for good) or off."""
        place = {"surface": surface, "server": server, "kind": kind, "scope": clean(scope)}
        row = {**place, "who": clean(who), "at": self._database.clock(), "until": until}
        await self._replace(switches, place, row if on else None)

    @uninterrupted
    async def switched(self, surface: str | None = None, server: str | None = None) -> list[Switch]:
        """Return the pauses and mutes in force, optionally only those of one surface or server."""
        query = select(switches).where(or_(switches.c.until.is_(None), switches.c.until > self._database.clock()))
        query = query if surface is None else query.where(switches.c.surface == surface)
        query = query if server is None else query.where(switches.c.server == server)
        async with self._database.read() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [Switch(**{**row, "kind": SwitchKind(row["kind"])}) for row in rows]

    @uninterrupted
    async def hide(self, who: str, group: TargetGroup, *, hidden: bool) -> None:
        """Hide a target group from a moderator's own queue, or show it again."""
        row = {"who": clean(who), "target_group": group}
        await self._replace(hidden_groups, row, row if hidden else None)

    @uninterrupted
    async def hidden(self, who: str) -> frozenset[TargetGroup]:
        """Return the groups that a moderator does not want to see."""
        query = select(hidden_groups.c.target_group).where(hidden_groups.c.who == clean(who))
        async with self._database.read() as connection:
            return frozenset(TargetGroup(group) for group in (await connection.execute(query)).scalars())

    @uninterrupted
    async def choose_language(self, who: str, language: str | None) -> None:
        """Set the language of a moderator's interface; None leaves the choice to their browser or chat."""
        person = {"who": clean(who)}
        await self._replace(languages, person, None if language is None else {**person, "language": language})

    @uninterrupted
    async def language(self, who: str) -> str | None:
        """Return the language that a moderator chose, or None if it is left to their browser or chat."""
        query = select(languages.c.language).where(languages.c.who == clean(who))
        async with self._database.read() as connection:
            return (await connection.execute(query)).scalar_one_or_none()

    @uninterrupted
    async def languages(self) -> dict[str, str]:
        """Return name -> language of everybody who has chosen one."""
        async with self._database.read() as connection:
            rows = (await connection.execute(select(languages.c.who, languages.c.language))).all()
        return {row.who: row.language for row in rows}

    async def _replace(self, table: Table, key: dict[str, Any], row: dict[str, Any] | None) -> None:
        async with self._database.write() as connection:
            await connection.execute(delete(table).where(*(table.c[name] == value for name, value in key.items())))
            if row is not None:
                await connection.execute(insert(table).values(row))
