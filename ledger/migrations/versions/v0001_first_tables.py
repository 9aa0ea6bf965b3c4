"""Create the first tables: cases, drafts, history, outbox."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Moment = sa.DateTime(timezone=True)
RowId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create tables, indexes, and the triggers that keep the history append-only."""
    _make_cases()
    _make_drafts()
    _make_history()
    _make_outbox()
    if op.get_bind().dialect.name == "sqlite":
        _guard_history_sqlite()
    else:
        _guard_history_postgres()


def _make_cases() -> None:
    op.create_table(
        "cases",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("platform", sa.String(64), nullable=False),
        sa.Column("post_id", sa.String(200), nullable=False),
        sa.Column("post", sa.Text, nullable=False),
        sa.Column("author_hash", sa.String(64)),
        sa.Column("fingerprint", sa.String(64)),
        sa.Column("groups", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("previous_state", sa.String(16)),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("received_at", Moment, nullable=False),
        sa.Column("updated_at", Moment, nullable=False),
        sa.Column("triage", sa.Text),
        sa.Column("grounding", sa.Text),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("request_number", sa.Integer, nullable=False),
        sa.Column("claimed_by", sa.Text),
        sa.Column("claimed_until", Moment),
        sa.Column("decided_by", sa.Text),
        sa.Column("decided_why", sa.Text),
        sa.Column("final_text", sa.Text),
        sa.Column("release_at", Moment),
        sa.Column("error", sa.Text),
    )
    op.create_index("cases_queue", "cases", ["state", "received_at", "key", "groups", "platform", "claimed_by"])
    unfinished = "coalesce(state, '') IN ('received', 'triaged', 'grounded')"
    _partial_index("cases_unfinished", "cases", ["updated_at"], unfinished)
    _partial_index("cases_fingerprint", "cases", ["fingerprint", "received_at", "key"], "fingerprint IS NOT NULL")


def _make_drafts() -> None:
    op.create_table(
        "drafts",
        sa.Column("case_key", sa.Text, sa.ForeignKey("cases.key"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("draft", sa.Text, nullable=False),
    )


def _make_history() -> None:
    op.create_table(
        "history",
        sa.Column("id", RowId, primary_key=True),
        sa.Column("case_key", sa.Text, sa.ForeignKey("cases.key"), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("from_state", sa.String(16)),
        sa.Column("to_state", sa.String(16), nullable=False),
        sa.Column("at", Moment, nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.UniqueConstraint("case_key", "version", name="history_case_version"),
        sqlite_autoincrement=True,
    )


def _make_outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", RowId, primary_key=True),
        sa.Column("case_key", sa.Text, sa.ForeignKey("cases.key"), nullable=False),
        sa.Column("topic", sa.String(16), nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("headers", sa.Text, nullable=False),
        sa.Column("due_at", Moment, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("lease_owner", sa.Text),
        sa.Column("free_at", Moment, nullable=False),
        sa.Column("probe", sa.Text),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("last_error", sa.Text),
        sa.Column("created_at", Moment, nullable=False),
        sa.Column("sent_at", Moment),
        sqlite_autoincrement=True,
    )
    _partial_index("outbox_open", "outbox", ["free_at", "id"], "status IN ('waiting', 'sending')")
    _partial_index("outbox_open_of_case", "outbox", ["case_key"], "status IN ('waiting', 'sending')")


def _partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _guard_history_sqlite() -> None:
    for verb in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER history_no_{verb.lower()} BEFORE {verb} ON history "
            "BEGIN SELECT RAISE(ABORT, 'history is append-only'); END"
        )


def _guard_history_postgres() -> None:
    op.execute(
        "CREATE FUNCTION refuse_history_change() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'history is append-only'; END $$"
    )
    op.execute(
        "CREATE TRIGGER history_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON history "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_history_change()"
    )
