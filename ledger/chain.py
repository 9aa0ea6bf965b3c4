"""The chain of a case's history, by which `rejoinder audit verify` detects changed, removed or inserted rows.

Each row has a keyed digest (HMAC-SHA256) over its fields and the previous row's digest. Nobody can forge one without
the key, which is not in the database. Texts are included only as separate digests, made with a salt that is stored in
the row: the reason, and the text that came with the transition (post, draft, approved reply).

Erasure deletes the texts and the salt. What remains proves that there were texts and that all else is unchanged, but
the texts can't be guessed from it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, bindparam, insert, literal_column, select

from ledger.connection import Connection
from ledger.database import CHAIN_KEY
from ledger.tables import history

UNSEALED = frozenset({"id", "why", "salt", "digest"})
"""Columns that the digest of a history row leaves out: those that the database fills or erasure deletes."""

_PURPOSE = b"rejoinder history, version 1"
_APPEND = insert(history).inline()
# Written as SQL, because SQLAlchemy omits table names in RETURNING on SQLite, and both tables have a `version`.
PREVIOUS: ColumnElement[str | None] = literal_column(
    "(SELECT earlier.digest FROM history AS earlier "
    "WHERE earlier.case_key = cases.key AND earlier.version = cases.version - 1)"
).label("previous_digest")
"""The digest before a case's next history row, returned by the statement that moves the case, to save a round trip."""
_DIGEST = select(history.c.digest).where(
    history.c.case_key == bindparam("case"), history.c.version == bindparam("before")
)


async def append(connection: Connection, row: Mapping[str, Any], previous: str | None, text: str | None) -> None:
    """Append a transition to a case's history, after the digest `previous`, with the text that came with it, if any.

    Call this after every statement of the transaction that may wait for a row lock: on PostgreSQL, `History` waits for
    transactions that have appended, so these must not wait in turn.
    """
    if previous is None:
        # On PostgreSQL, a statement that waited for another transition does not see the history row that it appended.
        earlier = {"case": row["case_key"], "before": row["version"] - 1}
        previous = (await connection.execute(_DIGEST, earlier)).scalar_one_or_none()
    await connection.execute(_APPEND, _sealed(chain_key(connection), row, text, previous))


async def append_first(connection: Connection, rows: Sequence[tuple[Mapping[str, Any], str]]) -> None:
    """Append the first transitions of new cases, each with its post; otherwise like `append`."""
    key = chain_key(connection)
    await connection.execute(_APPEND, [_sealed(key, row, post, None) for row, post in rows])


def chain_key(connection: Connection) -> bytes:
    """Return the chain's key, which each connection carries as an option."""
    assert connection.sync_connection is not None, "it is open"
    key: bytes = connection.sync_connection.get_execution_options()[CHAIN_KEY]
    return key


def salted_digest(salt: str, text: str) -> str:
    """Return the digest of a text with its row's salt."""
    return hashlib.sha256(bytes.fromhex(salt) + text.encode()).hexdigest()


def row_digest(key: bytes, row: Mapping[str, Any], previous: str | None) -> str:
    """Return the digest of a history row or tombstone, given the digest of the previous row.

    Empty columns are left out, so that rows stay valid when a later version adds columns.
    """
    fields = {
        name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
        if name not in UNSEALED and value is not None
    }
    signed = json.dumps([previous, fields], sort_keys=True)
    return hmac.new(key, _PURPOSE + signed.encode(), "sha256").hexdigest()


def _sealed(key: bytes, row: Mapping[str, Any], text: str | None, previous: str | None) -> dict[str, Any]:
    salt = secrets.token_hex(16)
    text_digest = None if text is None else salted_digest(salt, text)
    sealed = {**row, "salt": salt, "why_digest": salted_digest(salt, row["why"]), "text_digest": text_digest}
    return {**sealed, "digest": row_digest(key, sealed, previous)}
