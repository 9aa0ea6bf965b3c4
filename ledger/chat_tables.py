"""The tables behind the chats: which card was posted where, and what moderators have set.

`surface` is the chat platform (`discord`, `slack`), `server` a Discord server or Slack workspace; all ids are text.
Case keys are not foreign keys here: a card may outlive its case's row, and is then taken down.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, String, Table, Text, text

from ledger.tables import RowId, UtcTime, metadata

ID_LENGTH = 255
"""Longest id of a server, channel or message on any chat platform."""

case_numbers = Table(
    "case_numbers",
    metadata,
    Column("number", RowId, primary_key=True),
    Column("case_key", Text, nullable=False, unique=True),
    sqlite_autoincrement=True,
)

cards = Table(
    "cards",
    metadata,
    Column("surface", String(16), primary_key=True),
    Column("server", String(ID_LENGTH), primary_key=True),
    Column("case_key", Text, primary_key=True),
    Column("channel", String(ID_LENGTH), nullable=False),
    # NULL between the reservation and the platform's answer; after a crash, the next start checks whether the message
    # exists.
    Column("message", String(ID_LENGTH)),
    Column("version", Integer, nullable=False),
    # When the card becomes outdated without a transition: a claim expires, an undo window closes.
    Column("stale_at", UtcTime),
    Column("counted_only", Boolean, nullable=False),
    # False once the card shows the end of its case; only unsettled cards are regularly compared with their cases.
    Column("unsettled", Boolean, nullable=False),
    Column("at", UtcTime, nullable=False),
)
IS_UNSETTLED = text("unsettled IS TRUE")
Index(
    "cards_unsettled", cards.c.surface, cards.c.server, cards.c.at, sqlite_where=IS_UNSETTLED,
    postgresql_where=IS_UNSETTLED,
)  # fmt: skip
Index("cards_recent", cards.c.surface, cards.c.server, cards.c.channel, cards.c.at)

notices = Table(
    "notices",
    metadata,
    Column("surface", String(16), primary_key=True),
    Column("server", String(ID_LENGTH), primary_key=True),
    Column("channel", String(ID_LENGTH), primary_key=True),
    Column("topic", String(32), primary_key=True),
    Column("message", String(ID_LENGTH), nullable=False),
    Column("count", Integer, nullable=False),
    Column("since", UtcTime, nullable=False),
    Column("at", UtcTime, nullable=False),
    # The newest history row that the notice covers, if it covers any.
    Column("last_id", RowId),
)

intents = Table(
    "intents",
    metadata,
    Column("surface", String(16), primary_key=True),
    Column("server", String(ID_LENGTH), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("scope", String(ID_LENGTH), primary_key=True),
    Column("intent", String(16), nullable=False),
    Column("who", Text, nullable=False),
    Column("at", UtcTime, nullable=False),
)

switches = Table(
    "switches",
    metadata,
    Column("surface", String(16), primary_key=True),
    Column("server", String(ID_LENGTH), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("scope", Text, primary_key=True),
    Column("who", Text, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("until", UtcTime),
)

hidden_groups = Table(
    "hidden_groups",
    metadata,
    Column("who", Text, primary_key=True),
    Column("target_group", String(32), primary_key=True),
)

languages = Table(
    "languages",
    metadata,
    Column("who", Text, primary_key=True),
    Column("language", String(16), nullable=False),
)

assignments = Table(
    "assignments",
    metadata,
    Column("case_key", Text, primary_key=True),
    Column("assignee", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("at", UtcTime, nullable=False),
)
