"""The chain of a case's history, by which `rejoinder audit verify` sees what was changed, left out or put in.

Each row has a keyed digest (HMAC-SHA256) over its fields and the digest of the row before, so that nobody makes one
without the key, which is not in the database. Words enter it only as digests of their own, made with a salt that the
row keeps: those of the reason, and of the text that came with the transition (post, draft, approved reply). To erase is
to delete words and salt. What is left proves that there were some and that all else is as it was, and can't be guessed
back into words.
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
"""Columns of the history that its digest leaves out: what the database gives, and what erasure takes away."""

_PURPOSE = b"rejoinder history, version 1"
_APPEND = insert(history).inline()
# As text, because SQLAlchemy leaves tables' names out of RETURNING on SQLite, and both tables have a `version`.
PREVIOUS: ColumnElement[str | None] = literal_column(
    "(SELECT earlier.digest FROM history AS earlier "
    "WHERE earlier.case_key = cases.key AND earlier.version = cases.version - 1)"
).label("previous_digest")
"""The digest that a case's next row follows, asked for by the statement that moves the case: one trip less."""
_DIGEST = select(history.c.digest).where(
    history.c.case_key == bindparam("case"), history.c.version == bindparam("before")
)


async def append(connection: Connection, row: Mapping[str, Any], previous: str | None, text: str | None) -> None:
    """Add a transition to a case's history after the digest of the one before, with the text that came, if one did.

    Within a transaction it comes after every statement that may wait for another's row: `History` on PostgreSQL waits
    for transactions that have appended, and they must not wait in turn.
    """
    if previous is None:
        # On PostgreSQL a statement that waited for another's transition does not see the row which that one appended.
        earlier = {"case": row["case_key"], "before": row["version"] - 1}
        previous = (await connection.execute(_DIGEST, earlier)).scalar_one_or_none()
    await connection.execute(_APPEND, _sealed(chain_key(connection), row, text, previous))


async def append_first(connection: Connection, rows: Sequence[tuple[Mapping[str, Any], str]]) -> None:
    """Add the first transitions of new cases, each with its post, as `append` does."""
    key = chain_key(connection)
    await connection.execute(_APPEND, [_sealed(key, row, post, None) for row, post in rows])


def chain_key(connection: Connection) -> bytes:
    """Return the key that came with a connection."""
    assert connection.sync_connection is not None, "it is open"
    key: bytes = connection.sync_connection.get_execution_options()[CHAIN_KEY]
    return key


def salted_digest(salt: str, text: str) -> str:
    """Return the digest of a text with the salt of its row."""
    return hashlib.sha256(bytes.fromhex(salt) + text.encode()).hexdigest()


def row_digest(key: bytes, row: Mapping[str, Any], previous: str | None) -> str:
    """Return the digest of a row of the history, or of a tombstone, after the digest of the row before.

    An empty column counts for nothing, so that rows stay good when a later version adds columns.
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
