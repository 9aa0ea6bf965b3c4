"""Record which browsers are logged in at the desk, so that each can be logged out from elsewhere."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from ledger.tables import UtcTime

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; moderators logged in with an older version must log in again."""
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("opened_at", UtcTime, nullable=False),
        sa.Column("until", UtcTime, nullable=False),
        sa.Column("browser", sa.String(200), nullable=False),
    )
