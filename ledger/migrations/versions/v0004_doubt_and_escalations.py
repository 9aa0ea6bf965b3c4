"""Add columns and indexes for cases in doubt and for notices of escalations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

RowId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the columns, and the indexes that keep their queries fast; no earlier case is in doubt."""
    op.add_column("cases", sa.Column("doubtful", sa.Boolean, nullable=False, server_default=sa.false()))
    op.drop_index("cases_queue", "cases")
    op.create_index(
        "cases_queue", "cases", ["state", "received_at", "key", "groups", "platform", "claimed_by", "doubtful"]
    )
    escalated = sa.text("to_state = 'escalated'")
    op.create_index("history_escalations", "history", ["id"], sqlite_where=escalated, postgresql_where=escalated)
    op.add_column("notices", sa.Column("last_id", RowId))
