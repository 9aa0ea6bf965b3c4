"""Let texts be erased from cases and history, chain the history, and record who uncovered a post."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

Moment = sa.DateTime(timezone=True)
RowId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ERASABLE = {"why", "salt"}
"""Columns of the history that may be emptied; all others never change."""


def upgrade() -> None:
    """Add columns and tables. Earlier rows stay outside the chain, because the key is not available here."""
    op.add_column("cases", sa.Column("erased_at", Moment))
    kept = sa.text("erased_at IS NULL")
    op.create_index("cases_with_texts", "cases", ["received_at"], sqlite_where=kept, postgresql_where=kept)
    for name, length in (("salt", 32), ("why_digest", 64), ("text_digest", 64), ("digest", 64)):
        op.add_column("history", sa.Column(name, sa.String(length)))
    _make_uncoverings()
    _make_tombstones()
    columns = [column["name"] for column in sa.inspect(op.get_bind()).get_columns("history")]
    if op.get_bind().dialect.name == "sqlite":
        _guard_history_sqlite([name for name in columns if name not in ERASABLE])
    else:
        _guard_history_postgres()


def _make_uncoverings() -> None:
    op.create_table(
        "uncoverings",
        sa.Column("id", RowId, primary_key=True),
        sa.Column("case_key", sa.Text, nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("at", Moment, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("uncoverings_of_case", "uncoverings", ["case_key"])


def _make_tombstones() -> None:
    op.create_table(
        "tombstones",
        sa.Column("id", RowId, primary_key=True),
        sa.Column("key_hash", sa.String(64), nullable=False),
        sa.Column("platform", sa.String(64), nullable=False),
        sa.Column("groups", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("received_at", Moment, nullable=False),
        sa.Column("pruned_at", Moment, nullable=False),
        sa.Column("transitions", sa.Integer, nullable=False),
        sa.Column("last_digest", sa.String(64)),
        sa.Column("digest", sa.String(64), nullable=False),
        sqlite_autoincrement=True,
    )


def _guard_history_sqlite(fixed: list[str]) -> None:
    """Refuse every update but the erasure of a row's texts, and every deletion but that of an erased case."""
    op.execute("DROP TRIGGER history_no_update")
    op.execute("DROP TRIGGER history_no_delete")
    changed = " OR ".join(f'NEW."{name}" IS NOT OLD."{name}"' for name in fixed)
    op.execute(
        f"CREATE TRIGGER history_no_update BEFORE UPDATE ON history WHEN {changed} OR NEW.why <> '' "
        "OR NEW.salt IS NOT NULL BEGIN SELECT RAISE(ABORT, 'history is append-only'); END"
    )
    op.execute(
        "CREATE TRIGGER history_no_delete BEFORE DELETE ON history "
        'WHEN (SELECT erased_at FROM cases WHERE "key" = OLD.case_key) IS NULL '
        "BEGIN SELECT RAISE(ABORT, 'history is append-only'); END"
    )


def _guard_history_postgres() -> None:
    """Refuse the same on PostgreSQL; TRUNCATE stays refused by the existing function."""
    op.execute("DROP TRIGGER history_append_only ON history")
    op.execute(
        "CREATE FUNCTION refuse_history_loss() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF TG_OP = 'UPDATE' AND NEW.why = '' AND NEW.salt IS NULL AND "
        "to_jsonb(NEW) - 'why' - 'salt' = to_jsonb(OLD) - 'why' - 'salt' THEN RETURN NEW; END IF; "
        "IF TG_OP = 'DELETE' AND EXISTS (SELECT 1 FROM cases WHERE key = OLD.case_key AND erased_at IS NOT NULL) "
        "THEN RETURN OLD; END IF; "
        "RAISE EXCEPTION 'history is append-only'; END $$"
    )
    op.execute(
        "CREATE TRIGGER history_rows_append_only BEFORE UPDATE OR DELETE ON history "
        "FOR EACH ROW EXECUTE FUNCTION refuse_history_loss()"
    )
    op.execute(
        "CREATE TRIGGER history_append_only BEFORE TRUNCATE ON history "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_history_change()"
    )
