"""Let closed cases be handled, appealed against and retracted; find cases with the same author or text."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

Moment = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add columns and indexes; earlier cases get no hash of their text, because the key is not available here."""
    op.add_column("cases", sa.Column("text_hash", sa.String(64)))
    op.add_column("cases", sa.Column("handled", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("cases", sa.Column("appealed", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("cases", sa.Column("retracted_at", Moment))
    op.add_column("cases", sa.Column("notes", sa.Text))
    op.add_column("history", sa.Column("kind", sa.String(16)))
    op.add_column("outbox", sa.Column("recallable", sa.Boolean, nullable=False, server_default=sa.true()))
    _partial_index("cases_text", ["text_hash", "state"], "text_hash IS NOT NULL")
    _partial_index("cases_author", ["author_hash", "received_at"], "coalesce(author_hash, '') <> ''")
    _partial_index("cases_appealed", ["received_at", "key"], "appealed IS TRUE")
    # Escalated cases can now be reopened, so their cards must be kept up to date too.
    op.execute("UPDATE cards SET unsettled = TRUE WHERE case_key IN (SELECT key FROM cases WHERE state = 'escalated')")


def _partial_index(name: str, columns: list[str], where: str) -> None:
    op.create_index(name, "cases", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
