"""Keep counts of cases by state, index a period's events by time, and record which dead letters were replayed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from ledger.tables import UtcTime

revision = "0010"
down_revision = "0008"
branch_labels = None
depends_on = None

_DECIDED = "('approved', 'dismissed', 'rejected')"
_IS_DECISION = (
    f"(from_state = 'pending' AND to_state IN {_DECIDED} OR from_state IN {_DECIDED} AND to_state = 'pending')"
)
_NOTE_OLD = "INSERT INTO state_counts (state, change) VALUES (OLD.state, -1);"
_NOTE_NEW = "INSERT INTO state_counts (state, change) VALUES (NEW.state, 1);"


def upgrade() -> None:
    """Add the tables, the triggers that count, and the indexes."""
    op.create_table(
        "replayed_letters",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("at", UtcTime, nullable=False),
    )
    op.create_table(
        "state_counts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("change", sa.Integer, nullable=False),
    )
    if op.get_bind().dialect.name == "sqlite":
        _count_on_sqlite()
    else:
        _count_on_postgres()
    # After the triggers, because on PostgreSQL creating one waits for writers and blocks new ones until the commit.
    op.execute("INSERT INTO state_counts (state, change) SELECT state, count(*) FROM cases GROUP BY state")
    _index("history_received", "from_state IS NULL")
    _index("history_decisions", _IS_DECISION)


def _count_on_sqlite() -> None:
    for name, when, notes in (
        ("cases_counted_in", "AFTER INSERT ON cases", _NOTE_NEW),
        ("cases_counted_on", "AFTER UPDATE OF state ON cases WHEN OLD.state <> NEW.state", _NOTE_OLD + _NOTE_NEW),
        ("cases_counted_out", "AFTER DELETE ON cases", _NOTE_OLD),
    ):
        op.execute(f"CREATE TRIGGER {name} {when} BEGIN {notes} END")


def _count_on_postgres() -> None:
    op.execute(
        "CREATE FUNCTION count_cases() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF TG_OP = 'UPDATE' AND OLD.state = NEW.state THEN RETURN NULL; END IF; "
        f"IF TG_OP <> 'INSERT' THEN {_NOTE_OLD} END IF; IF TG_OP <> 'DELETE' THEN {_NOTE_NEW} END IF; "
        "RETURN NULL; END $$"
    )
    op.execute(
        "CREATE TRIGGER cases_counted AFTER INSERT OR DELETE OR UPDATE OF state ON cases "
        "FOR EACH ROW EXECUTE FUNCTION count_cases()"
    )


def _index(name: str, where: str) -> None:
    op.create_index(name, "history", ["at"], sqlite_where=sa.text(where), postgresql_where=sa.text(where))
