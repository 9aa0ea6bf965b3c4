"""Add the tables of the chats: cards, notices, intents, switches, hidden groups, assignments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

Moment = sa.DateTime(timezone=True)
RowId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    _make_cards()
    _make_notices()
    _make_wishes()


def _place() -> list[sa.Column[str]]:
    return [sa.Column("surface", sa.String(16), primary_key=True), sa.Column("server", sa.String(64), primary_key=True)]


def _make_cards() -> None:
    op.create_table(
        "case_numbers",
        sa.Column("number", RowId, primary_key=True),
        sa.Column("case_key", sa.Text, nullable=False, unique=True),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "cards",
        *_place(),
        sa.Column("case_key", sa.Text, primary_key=True),
        sa.Column("channel", sa.String(64), nullable=False),
        sa.Column("message", sa.String(64)),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("stale_at", Moment),
        sa.Column("counted_only", sa.Boolean, nullable=False),
        sa.Column("unsettled", sa.Boolean, nullable=False),
        sa.Column("at", Moment, nullable=False),
    )
    op.create_index("cards_message", "cards", ["surface", "message"])
    unsettled = sa.text("unsettled IS TRUE")
    op.create_index(
        "cards_unsettled", "cards", ["surface", "server", "at"], sqlite_where=unsettled, postgresql_where=unsettled
    )
    op.create_index("cards_recent", "cards", ["surface", "server", "channel", "at"])


def _make_notices() -> None:
    op.create_table(
        "notices",
        *_place(),
        sa.Column("channel", sa.String(64), primary_key=True),
        sa.Column("topic", sa.String(32), primary_key=True),
        sa.Column("message", sa.String(64), nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("since", Moment, nullable=False),
        sa.Column("at", Moment, nullable=False),
    )


def _make_wishes() -> None:
    op.create_table(
        "intents",
        *_place(),
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("scope", sa.String(64), primary_key=True),
        sa.Column("intent", sa.String(16), nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("at", Moment, nullable=False),
    )
    op.create_table(
        "switches",
        *_place(),
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("scope", sa.Text, primary_key=True),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("at", Moment, nullable=False),
        sa.Column("until", Moment),
    )
    op.create_table(
        "hidden_groups",
        sa.Column("who", sa.Text, primary_key=True),
        sa.Column("target_group", sa.String(32), primary_key=True),
    )
    op.create_table(
        "assignments",
        sa.Column("case_key", sa.Text, primary_key=True),
        sa.Column("assignee", sa.Text, nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("at", Moment, nullable=False),
    )
