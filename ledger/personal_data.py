"""Which columns hold what people wrote or what identifies them, and what erasure leaves of each.

Each text column of every table must be in exactly one of these lists; a test checks that. Tables with a `case_key` are
exported and pruned with their case, whether they are listed here or not.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table

from ledger.chat_tables import assignments, cards, case_numbers, hidden_groups, intents, languages, notices, switches
from ledger.sessions import sessions
from ledger.tables import (
    cases,
    drafts,
    history,
    metadata,
    outbox,
    replayed_letters,
    state_counts,
    tombstones,
    uncoverings,
)

ERASED: dict[Table, frozenset[str]] = {
    cases: frozenset({
        "post", "author_hash", "fingerprint", "triage", "grounding", "request", "claimed_by", "decided_why",
        "final_text", "error", "notes", "text_hash", "thread_hash",
    }),
    history: frozenset({"why", "salt"}),
    outbox: frozenset({"value", "last_error"}),
}  # fmt: skip
"""Columns that are emptied when a case's texts are erased."""

DELETED = (drafts,)
"""Tables whose rows are deleted when their case's texts are erased."""

WITHOUT_TEXT: dict[Table, frozenset[str]] = {
    cases: frozenset({"key", "platform", "post_id", "state", "previous_state", "decided_by"}),
    history: frozenset({"case_key", "from_state", "to_state", "who", "kind", "why_digest", "text_digest", "digest"}),
    outbox: frozenset({"case_key", "topic", "key", "headers", "status", "lease_owner", "probe"}),
    uncoverings: frozenset({"case_key", "who"}),
    tombstones: frozenset({"key_hash", "platform", "state", "last_digest", "digest"}),
    case_numbers: frozenset({"case_key"}),
    cards: frozenset({"surface", "server", "case_key", "channel", "message"}),
    notices: frozenset({"surface", "server", "channel", "topic", "message"}),
    intents: frozenset({"surface", "server", "kind", "scope", "intent", "who"}),
    switches: frozenset({"surface", "server", "kind", "scope", "who"}),
    hidden_groups: frozenset({"who", "target_group"}),
    languages: frozenset({"who", "language"}),
    assignments: frozenset({"case_key", "assignee", "who"}),
    sessions: frozenset({"id", "who", "browser"}),
    replayed_letters: frozenset({"id"}),
    state_counts: frozenset({"state"}),
}
"""Columns that are kept: names of posts, moderators and chat channels, and Rejoinder's own values."""


def emptied(table: Table) -> dict[str, Any]:
    """Return the values that erasure writes into a row: None, or an empty text if the column is not nullable."""
    return {name: None if table.c[name].nullable else "" for name in ERASED[table]}


def tables_of_a_case() -> list[Table]:
    """Return all tables whose rows belong to a case, those that others refer to last."""
    return [table for table in reversed(metadata.sorted_tables) if "case_key" in table.c]
