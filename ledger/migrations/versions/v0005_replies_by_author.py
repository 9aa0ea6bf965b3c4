"""Find earlier replies to an author, so that nobody gets the same reply twice."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index; it covers only cases with a draft or a reply, and the hashes already exist."""
    answered = sa.text("coalesce(state, '') IN ('pending', 'approved', 'released')")
    op.create_index(
        "cases_answered", "cases", ["author_hash", "received_at"], sqlite_where=answered, postgresql_where=answered
    )
