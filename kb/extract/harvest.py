"""Keep what was extracted: documents by content hash, their paragraphs, and which of these repeat another."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.domain import Evidence
from core.errors import BadInput, KnowledgeBaseError
from kb.extract.near_duplicates import say_the_same

FILE = "harvest.sqlite"
_APPLICATION = 0x526A4856
_SCHEMA = 1
_MOST_CANDIDATES = 50
_TABLES = """
CREATE TABLE document (
    id TEXT PRIMARY KEY, sha256 TEXT NOT NULL, citation TEXT NOT NULL, status TEXT NOT NULL, notes TEXT NOT NULL,
    year INTEGER NOT NULL
) STRICT;
CREATE INDEX document_sha256 ON document (sha256);
CREATE TABLE paragraph (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL REFERENCES document,
    evidence TEXT NOT NULL, text TEXT NOT NULL, kept_as INTEGER REFERENCES paragraph
) STRICT;
CREATE INDEX paragraph_document ON paragraph (document, number);
CREATE INDEX paragraph_kept_as ON paragraph (kept_as) WHERE kept_as IS NOT NULL;
CREATE TABLE band (key INTEGER, number INTEGER, PRIMARY KEY (key, number)) STRICT, WITHOUT ROWID;
"""


class Status(StrEnum):
    """How completely a document was read."""

    DONE = "done"
    PARTIAL = "partial"
    FAILED = "failed"


@dataclass(frozen=True)
class Entry:
    """What an earlier run recorded of a document."""

    sha256: str
    citation: str
    status: Status
    notes: tuple[str, ...]


@dataclass(frozen=True)
class SketchedParagraph:
    """A paragraph with the band keys by which near-duplicates are found."""

    evidence: Evidence
    bands: tuple[int, ...]


class Harvest:
    """The file in which runs keep what they extracted; only one process may write it."""

    def __init__(self, folder: Path) -> None:
        """Open the harvest in a folder, or start one; raises KnowledgeBaseError if the file is foreign or damaged."""
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        self._db = sqlite3.connect(self._path)
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise KnowledgeBaseError(
                f"{self._path} can't be read: {error}. Remove it; everything is then extracted again."
            ) from error

    def __enter__(self) -> Harvest:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def find(self, document: str) -> Entry | None:
        """Return the entry of a document; None if there is none."""
        query = "SELECT sha256, citation, status, notes FROM document WHERE id = ?"
        row = self._db.execute(query, (document,)).fetchone()
        return Entry(row[0], row[1], Status(row[2]), tuple(row[3].splitlines())) if row else None

    def holder(self, sha256: str) -> str | None:
        """Return the id of a document with this content that was read without failure."""
        row = self._db.execute(
            "SELECT id FROM document WHERE sha256 = ? AND status != 'failed' ORDER BY id", (sha256,)
        ).fetchone()
        return row[0] if row else None

    def put(self, document: str, year: int, entry: Entry, paragraphs: Sequence[SketchedParagraph]) -> int:
        """Store a document in place of the one with its id, all or nothing; return how many of its paragraphs are new.

        A paragraph that repeats one of another document is kept, but not returned by `evidence`.
        """
        with self._db:
            orphans = self._delete(document)
            self._db.execute(
                "INSERT INTO document VALUES (?, ?, ?, ?, ?, ?)",
                (document, entry.sha256, entry.citation, entry.status, "\n".join(entry.notes), year),
            )
            new = sum(self._insert(document, paragraph) for paragraph in paragraphs)
            for number, text, keys in orphans:
                self._fold_or_file(number, text, keys)
        return new

    def remove(self, documents: Collection[str]) -> int:
        """Remove documents, all or none; return how many paragraphs they had. Raises BadInput for an unknown id."""
        if unknown := [name for name in documents if self.find(name) is None]:
            raise BadInput(
                f"The harvest {self._path} has no document {', '.join(map(repr, unknown))}. A document's id is "
                "the `id` or `symbol` in its metadata sheet, and what stands before # in the ids of its paragraphs."
            )
        before = sum(self.counts())
        with self._db:
            for document in documents:
                for orphan in self._delete(document):
                    self._fold_or_file(*orphan)
        return before - sum(self.counts())

    def evidence(self) -> Iterator[Evidence]:
        """Yield the paragraphs without repetitions, in the order in which they were added."""
        for (text,) in self._db.execute("SELECT evidence FROM paragraph WHERE kept_as IS NULL ORDER BY number"):
            yield Evidence.model_validate_json(text)

    def counts(self) -> tuple[int, int]:
        """Return how many paragraphs `evidence` yields, and how many repeat one of these."""
        return tuple(self._db.execute("SELECT count(*) - count(kept_as), count(kept_as) FROM paragraph").fetchone())

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._db.close()

    def _prepare(self) -> None:
        marks = tuple(self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if marks == (0, 0) and not tables:
            self._db.executescript(
                "PRAGMA journal_mode = WAL; BEGIN;"
                f"PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {_SCHEMA};"
                f"{_TABLES} COMMIT;"
            )
        elif marks != (_APPLICATION, _SCHEMA):
            raise sqlite3.DatabaseError("it is no harvest of this version")
        self._db.execute("PRAGMA synchronous = NORMAL")

    def _delete(self, document: str) -> list[tuple[int, str, list[int]]]:
        """Remove a document; return the paragraphs of others that were folded into its own, newest documents first."""
        rows = self._db.execute(
            "SELECT other.number, other.text, other.kept_as FROM paragraph AS other JOIN paragraph AS own ON "
            "other.kept_as = own.number JOIN document ON document.id = other.document WHERE own.document = ? "
            "AND other.document != ? ORDER BY document.year DESC, other.number",
            (document, document),
        ).fetchall()
        # The folded paragraph gets the keys of the one it repeated: they are close enough to find it, and no sketch
        # has to be computed here.
        orphans = [(number, text, self._keys(kept)) for number, text, kept in rows]
        self._db.execute(
            "DELETE FROM band WHERE number IN (SELECT number FROM paragraph WHERE document = ?)", (document,)
        )
        self._db.executemany(
            "UPDATE paragraph SET kept_as = NULL WHERE number = ?", [(number,) for number, _, _ in orphans]
        )
        self._db.execute("DELETE FROM paragraph WHERE document = ?", (document,))
        self._db.execute("DELETE FROM document WHERE id = ?", (document,))
        return orphans

    def _keys(self, number: int) -> list[int]:
        return [row[0] for row in self._db.execute("SELECT key FROM band WHERE number = ?", (number,))]

    def _insert(self, document: str, paragraph: SketchedParagraph) -> bool:
        evidence = paragraph.evidence
        cursor = self._db.execute(
            "INSERT INTO paragraph (id, document, evidence, text) VALUES (?, ?, ?, ?)",
            (evidence.id, document, evidence.model_dump_json(), evidence.text),
        )
        return self._fold_or_file(cursor.lastrowid or 0, evidence.text, paragraph.bands)

    def _fold_or_file(self, number: int, text: str, keys: Iterable[int]) -> bool:
        """Fold a paragraph into one it repeats, or file it under its band keys; tell whether it is new."""
        keys = list(keys)
        marks = ",".join("?" * len(keys))
        rows = self._db.execute(
            f"SELECT number, text FROM paragraph WHERE number IN (SELECT number FROM band WHERE key IN ({marks}) "  # noqa: S608
            f"AND number != ? LIMIT {_MOST_CANDIDATES})",
            (*keys, number),
        )
        kept = next((candidate for candidate, other in rows.fetchall() if say_the_same(text, other)), None)
        if kept is not None:
            self._db.execute("UPDATE paragraph SET kept_as = ? WHERE number = ?", (kept, number))
            return False
        self._db.executemany("INSERT OR IGNORE INTO band VALUES (?, ?)", [(key, number) for key in keys])
        return True
