"""The ledger's tables and the indexes that keep its queries fast at a million cases.

Records (post, triage, grounding, drafts, …) are stored as the JSON text pydantic writes: one parser reads them back,
and a NUL stays the escape `\\u0000`, which a PostgreSQL text column takes. What a query filters by has its own column.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
    true,
)

from core.domain import CaseState, TargetGroup
from core.lifecycle import DECIDED, UNFINISHED


class UtcTime(TypeDecorator[datetime]):
    """A column of timezone-aware moments: TIMESTAMPTZ on PostgreSQL, sortable UTC text on SQLite."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert a moment to UTC, and for SQLite, whose text has no offset, drop the offset."""
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Restore the UTC offset of a moment."""
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


class OutboxStatus(StrEnum):
    """The status of an outbox row."""

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    CANCELLED = "cancelled"


RowId = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData()

cases = Table(
    "cases",
    metadata,
    Column("key", Text, primary_key=True),
    Column("platform", String(64), nullable=False),
    Column("post_id", String(200), nullable=False),
    Column("post", Text, nullable=False),
    Column("author_hash", String(64)),
    Column("fingerprint", String(64)),
    Column("groups", Integer, nullable=False),
    # True from a triage that leaves the post in doubt until somebody requests a draft.
    Column("doubtful", Boolean, nullable=False, server_default=false()),
    Column("state", String(16), nullable=False),
    # Written together with the state, so that RETURNING provides the history's from_state.
    Column("previous_state", String(16)),
    Column("version", Integer, nullable=False),
    Column("received_at", UtcTime, nullable=False),
    Column("updated_at", UtcTime, nullable=False),
    Column("triage", Text),
    Column("grounding", Text),
    Column("request", Text, nullable=False),
    Column("request_number", Integer, nullable=False),
    Column("claimed_by", Text),
    Column("claimed_until", UtcTime),
    Column("decided_by", Text),
    Column("decided_why", Text),
    Column("final_text", Text),
    Column("release_at", UtcTime),
    Column("error", Text),
    # The same for the same text, wherever it was posted; NULL in cases older than the column.
    Column("text_hash", String(64)),
    Column("handled", Boolean, nullable=False, server_default=false()),
    Column("appealed", Boolean, nullable=False, server_default=false()),
    Column("retracted_at", UtcTime),
    # A JSON array; NULL if there are none.
    Column("notes", Text),
    # When the texts were erased, by `rejoinder data erase` or a retention period; the case never changes afterwards.
    Column("erased_at", UtcTime),
    # NULL if the platform names no thread, and in cases older than the column.
    Column("thread_hash", String(64)),
)

drafts = Table(
    "drafts",
    metadata,
    Column("case_key", Text, ForeignKey("cases.key"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("draft", Text, nullable=False),
)

history = Table(
    "history",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("case_key", Text, ForeignKey("cases.key"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("from_state", String(16)),
    Column("to_state", String(16), nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("who", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("kind", String(16)),
    # Added by `ledger.chain`; NULL in rows older than the chain.
    Column("salt", String(32)),
    Column("why_digest", String(64)),
    Column("text_digest", String(64)),
    Column("digest", String(64)),
    UniqueConstraint("case_key", "version", name="history_case_version"),
    sqlite_autoincrement=True,
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("case_key", Text, ForeignKey("cases.key"), nullable=False),
    Column("topic", String(16), nullable=False),
    Column("key", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("headers", Text, nullable=False),
    Column("due_at", UtcTime, nullable=False),
    Column("status", String(16), nullable=False),
    Column("lease_owner", Text),
    # When the row may be leased: due_at while it waits, the end of the lease while it is being sent.
    Column("free_at", UtcTime, nullable=False),
    Column("probe", Text),
    Column("attempts", Integer, nullable=False),
    Column("last_error", Text),
    Column("created_at", UtcTime, nullable=False),
    Column("sent_at", UtcTime),
    # False for events that are not cancelled when a decision is undone.
    Column("recallable", Boolean, nullable=False, server_default=true()),
    sqlite_autoincrement=True,
)

# Who uncovered which post, if the operator has turned this on.
uncoverings = Table(
    "uncoverings",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("case_key", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("at", UtcTime, nullable=False),
    sqlite_autoincrement=True,
)
Index("uncoverings_of_case", uncoverings.c.case_key)

# What remains of a case after `retention.cases_days`: enough to count it and to prove what its history was.
tombstones = Table(
    "tombstones",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("key_hash", String(64), nullable=False),
    Column("platform", String(64), nullable=False),
    Column("groups", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("received_at", UtcTime, nullable=False),
    Column("pruned_at", UtcTime, nullable=False),
    Column("transitions", Integer, nullable=False),
    Column("last_digest", String(64)),
    Column("digest", String(64), nullable=False),
    sqlite_autoincrement=True,
)

# Written by triggers on `cases`; the number of cases in a state is the sum of its changes. With one counter row per
# state, all transitions on PostgreSQL would wait for each other.
state_counts = Table(
    "state_counts",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("state", String(16), nullable=False),
    Column("change", Integer, nullable=False),
)

replayed_letters = Table(
    "replayed_letters",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("at", UtcTime, nullable=False),
)


_DECIDED = sorted(DECIDED)


def _one_of(column: str, values: Iterable[StrEnum]) -> str:
    return f"{column} IN ({', '.join(repr(str(value)) for value in values)})"


# SQLite uses a partial index only if the query repeats its condition literally, so index and query share these. The
# coalesce keeps SQLite from using the queue's index for `state`, which would sort a whole backlog to get the first few
# rows.
IS_UNFINISHED = text(_one_of("coalesce(state, '')", UNFINISHED))
IS_ANSWERED = text(_one_of("coalesce(state, '')", (CaseState.PENDING, CaseState.APPROVED, CaseState.RELEASED)))
IS_OPEN = text(_one_of("status", (OutboxStatus.WAITING, OutboxStatus.SENDING)))
IS_AUTHORED = text("coalesce(author_hash, '') <> ''")
IS_APPEALED = text("appealed IS TRUE")
IS_RECEIPT = text("from_state IS NULL")
IS_DECISION = text(
    f"(from_state = '{CaseState.PENDING}' AND {_one_of('to_state', _DECIDED)}"
    f" OR {_one_of('from_state', _DECIDED)} AND to_state = '{CaseState.PENDING}')"
)
IS_ESCALATION = text(f"to_state = '{CaseState.ESCALATED}'")


def _partial(name: str, *columns: Column[Any], where: Any) -> Index:
    return Index(name, *columns, sqlite_where=where, postgresql_where=where)


# Covers all filters of the queue, so that a page is found without reading the wide rows.
Index(
    "cases_queue", cases.c.state, cases.c.received_at, cases.c.key, cases.c.groups, cases.c.platform,
    cases.c.claimed_by, cases.c.doubtful,
)  # fmt: skip
_partial("cases_unfinished", cases.c.updated_at, where=IS_UNFINISHED)
_partial(
    "cases_fingerprint", cases.c.fingerprint, cases.c.received_at, cases.c.key, where=cases.c.fingerprint.is_not(None)
)
_partial("cases_text", cases.c.text_hash, cases.c.state, where=cases.c.text_hash.is_not(None))
_partial("cases_author", cases.c.author_hash, cases.c.received_at, where=IS_AUTHORED)
_partial("cases_appealed", cases.c.received_at, cases.c.key, where=IS_APPEALED)
_partial("cases_answered", cases.c.author_hash, cases.c.received_at, where=IS_ANSWERED)
_partial("cases_answered_thread", cases.c.thread_hash, cases.c.received_at, where=IS_ANSWERED)
_partial("cases_with_texts", cases.c.received_at, where=cases.c.erased_at.is_(None))
_partial("history_escalations", history.c.id, where=IS_ESCALATION)
_partial("history_received", history.c.at, where=IS_RECEIPT)
_partial("history_decisions", history.c.at, where=IS_DECISION)
_partial("outbox_open", outbox.c.free_at, outbox.c.id, where=IS_OPEN)
_partial("outbox_open_of_case", outbox.c.case_key, where=IS_OPEN)

GROUP_BITS = {group: 1 << position for position, group in enumerate(TargetGroup)}
"""The bit of each target group in `cases.groups`; new groups must be added at the end of the enum."""


def group_mask(groups: Iterable[TargetGroup]) -> int:
    """Return the bits of `groups` as stored in `cases.groups`."""
    return sum({GROUP_BITS[group] for group in groups})


@lru_cache
def groups_of(mask: int) -> tuple[TargetGroup, ...]:
    """Return the groups whose bits are set in a mask, as stored in `cases.groups`."""
    return tuple(group for group, bit in GROUP_BITS.items() if mask & bit)
