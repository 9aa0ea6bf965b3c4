"""The tables behind the chats: which card was posted where, and what moderators set.

`surface` is the chat platform (`discord`, `slack`), `server` a Discord server or Slack workspace, all ids as text. Case
keys here are no foreign keys: a card may outlive its case's row, and is then taken down.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, String, Table, Text, text

from ledger.tables import RowId, UtcTime, metadata

ID_LENGTH = 255
"""Longest id of a server, channel or message that any chat platform gives out."""

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
    # None between the reservation and the platform's answer: whoever starts then looks whether the message exists.
    Column("message", String(ID_LENGTH)),
    Column("version", Integer, nullable=False),
    # When the card as shown stops being true without a transition: a claim runs out, an undo window closes.
    Column("stale_at", UtcTime),
    Column("counted_only", Boolean, nullable=False),
    # False once the card shows the case's end: only the others are compared with their cases again and again.
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
    # The newest row of the history that it tells of, where it tells of some.
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
