"""Keep the language that each moderator has chosen."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "languages",
        sa.Column("who", sa.Text, primary_key=True),
        sa.Column("language", sa.String(16), nullable=False),
    )
