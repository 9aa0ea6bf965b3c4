"""Know which dead letters were sent again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from ledger.tables import UtcTime

revision = "0010"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "replayed_letters",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("at", UtcTime, nullable=False),
    )
