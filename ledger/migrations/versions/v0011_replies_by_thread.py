"""Find earlier replies in a thread, so that no thread gets the same reply twice."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column and its index; earlier cases get no hash, because platforms did not name threads then."""
    op.add_column("cases", sa.Column("thread_hash", sa.String(64)))
    answered = sa.text("coalesce(state, '') IN ('pending', 'approved', 'released')")
    op.create_index(
        "cases_answered_thread", "cases", ["thread_hash", "received_at"],
        sqlite_where=answered, postgresql_where=answered,
    )  # fmt: skip
