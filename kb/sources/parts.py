"""Keep the parts of a work in the store until it is complete, so that an interruption costs no second download."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import Unavailable

FOLDER = ".part"
TABLE = """
CREATE TABLE IF NOT EXISTS part (candidate TEXT, url TEXT, sha256 TEXT NOT NULL, PRIMARY KEY (candidate, url))
STRICT, WITHOUT ROWID
"""


class StoredParts:
    """The stored parts of one document: rows in the store's database, contents beside it under their hashes."""

    def __init__(self, db: sqlite3.Connection, store: Path, document: str) -> None:
        self._db = db
        self._store = store
        self._document = document

    def get(self, url: str, /) -> bytes | None:
        """Return a part that arrived earlier; None if it has not, or is damaged."""
        query = "SELECT sha256 FROM part WHERE candidate = ? AND url = ?"
        for (digest,) in self._db.execute(query, (self._document, url)).fetchall():
            file = self._store / FOLDER / digest
            content = file.read_bytes() if file.exists() else b""
            if hashlib.sha256(content).hexdigest() == digest:
                return content
        return None

    def __setitem__(self, url: str, content: bytes, /) -> None:
        """Keep a part; raises Unavailable if the disk is full or can't be written."""
        digest = hashlib.sha256(content).hexdigest()
        with storing(self._document, self._store):
            write(self._store / FOLDER / digest, content)
            with self._db:
                self._db.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?)", (self._document, url, digest))


@contextmanager
def storing(document: str, store: Path) -> Iterator[None]:
    """Raise Unavailable for anything that prevents writing to the disk."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise Unavailable(
            f"{document} can't be stored in {store}: {error}. Make room there and run the crawl again."
        ) from error


def write(file: Path, content: bytes) -> None:
    """Write a file and flush it to the disk, so that a power cut can't undo it."""
    with file.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
