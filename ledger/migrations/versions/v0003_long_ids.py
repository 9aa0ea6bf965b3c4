"""Allow ids of servers, channels and messages of 255 characters, as in Matrix; drop an unused index."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

IDS = {
    "cards": {"server": False, "channel": False, "message": True},
    "notices": {"server": False, "channel": False, "message": False},
    "intents": {"server": False, "scope": False},
    "switches": {"server": False},
}
"""Table -> id column -> whether it may be NULL."""


def upgrade() -> None:
    """Widen the columns; SQLite can do so only by copying the table."""
    op.drop_index("cards_message", "cards")
    for table, columns in IDS.items():
        with op.batch_alter_table(table) as batch:
            for column, nullable in columns.items():
                batch.alter_column(
                    column, existing_type=sa.String(64), type_=sa.String(255), existing_nullable=nullable
                )
