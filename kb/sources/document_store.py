"""Keep fetched documents on disk: a folder per institution, a manifest, and all that a later run must not ask again.

`crawl.sqlite` is authoritative; `manifest.jsonl` is made from it for people and for `rejoinder kb add`. A document's
row is committed before its file gets its final name, and an unfinished move is completed on opening. So an interruption
at any moment leads neither to a second download nor to a row without a file.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.domain import now
from core.errors import KnowledgeBaseError
from kb.sources.documents import FetchedText, ListedDocument, ListingPage, Parts, StoredDocument
from kb.sources.keywords import Keywords
from kb.sources.parts import FOLDER, TABLE, StoredParts, storing, write
from kb.sources.validation import Refusal

MANIFEST = "manifest.jsonl"
_FILE = "crawl.sqlite"
_APPLICATION = 0x526A5348
_SCHEMA = 1
_TABLES = """
CREATE TABLE document (id TEXT PRIMARY KEY, file TEXT NOT NULL UNIQUE, sha256 TEXT NOT NULL UNIQUE, row TEXT NOT NULL)
STRICT;
CREATE TABLE candidate (id TEXT PRIMARY KEY, source TEXT NOT NULL, year INTEGER NOT NULL, row TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0, outcome TEXT, detail TEXT) STRICT;
CREATE INDEX candidate_open ON candidate (source, tries, year) WHERE outcome IS NULL;
CREATE TABLE bookmark (source TEXT, name TEXT, value TEXT NOT NULL, PRIMARY KEY (source, name)) STRICT, WITHOUT ROWID;
"""
STORED, REPEATED = "stored", "repeated"


class DocumentStore:
    """A folder of fetched documents; only one process at a time may write it."""

    def __init__(self, folder: Path) -> None:
        """Open a store, or start one; raises KnowledgeBaseError if it is foreign, damaged or in use."""
        self.folder = folder
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(folder / _FILE, timeout=1.0)
        try:
            self._prepare()
            self._finish_interrupted_moves()
        except sqlite3.OperationalError as error:
            self._db.close()
            raise KnowledgeBaseError(
                f"{folder / _FILE} can't be opened: {error}. Wait for the other crawl to end, or give another folder."
            ) from error
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise KnowledgeBaseError(f"{folder / _FILE} can't be read: {error}. Give another folder.") from error
        self._write_manifest()

    def __enter__(self) -> DocumentStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def bookmarks(self, source: str) -> dict[str, str]:
        """Return the bookmarks of a source's listing."""
        return dict(self._db.execute("SELECT name, value FROM bookmark WHERE source = ?", (source,)).fetchall())

    def add_page(self, source: str, page: ListingPage) -> None:
        """Record a step of a listing: its documents and its bookmarks, all or nothing."""
        with self._db:
            for listed in page.documents:
                self._add_listed(source, listed)
            for name, value in page.bookmarks.items():
                if value is None:
                    self._db.execute("DELETE FROM bookmark WHERE source = ? AND name = ?", (source, name))
                else:
                    self._db.execute("INSERT OR REPLACE INTO bookmark VALUES (?, ?, ?)", (source, name, value))

    def open_documents(self, source: str) -> Iterator[ListedDocument]:
        """Yield the documents neither fetched nor refused permanently, those with the fewest failures first."""
        query = "SELECT row FROM candidate WHERE source = ? AND outcome IS NULL ORDER BY tries, year DESC, id"
        for (row,) in self._db.execute(query, (source,)).fetchall():
            yield ListedDocument.model_validate_json(row)

    def is_open(self, listed: ListedDocument) -> bool:
        """Tell whether a document still has to be fetched."""
        row = self._db.execute("SELECT outcome FROM candidate WHERE id = ?", (listed.id,)).fetchone()
        return row is not None and row[0] is None

    def reopen(self, source: str) -> None:
        """Forget permanent refusals, and which publications without a file were looked at."""
        with self._db:
            self._db.execute(
                "UPDATE candidate SET outcome = NULL WHERE source = ? AND outcome NOT IN (?, ?)",
                (source, STORED, REPEATED),
            )
            self._db.execute("DELETE FROM bookmark WHERE source = ?", (source,))

    def refuse(self, listed: ListedDocument, refusal: Refusal) -> None:
        """Record a refusal: permanently if its reason lasts, else as one more try."""
        with self._db:
            self._db.execute(
                "UPDATE candidate SET tries = tries + 1, detail = ?, outcome = ? WHERE id = ?",
                (str(refusal), str(refusal.reason) if refusal.reason.permanent else None, listed.id),
            )

    def put(self, listed: ListedDocument, texts: Sequence[FetchedText]) -> int:
        """Store a document's text; return how many of its parts were not already stored under another name.

        Raises Unavailable if the disk is full or can't be written.
        """
        with storing(listed.id, self.folder):
            return self._put(listed, texts)

    def parts(self, listed: ListedDocument) -> Parts:
        """Return the stored parts of a document in several parts; they stay until `put` has the whole."""
        return StoredParts(self._db, self.folder, listed.id)

    def documents(self) -> Iterator[StoredDocument]:
        """Yield the stored documents, by institution and id."""
        for (row,) in self._db.execute("SELECT row FROM document ORDER BY file"):
            yield StoredDocument.model_validate_json(row)

    def close(self) -> None:
        """Write the manifest and close; safe to call twice."""
        try:
            self._write_manifest()
        except sqlite3.ProgrammingError:
            return
        self._db.close()

    def _prepare(self) -> None:
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        marks = tuple(self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if marks == (0, 0) and not tables:
            self._db.executescript(
                f"BEGIN EXCLUSIVE; PRAGMA application_id = {_APPLICATION}; "
                f"PRAGMA user_version = {_SCHEMA}; {_TABLES} COMMIT;"
            )
        elif marks != (_APPLICATION, _SCHEMA):
            raise sqlite3.DatabaseError("it is no document store of this version")
        else:
            self._db.execute("BEGIN EXCLUSIVE")
            self._db.commit()
        self._db.execute(TABLE)

    def _finish_interrupted_moves(self) -> None:
        """Complete interrupted moves; forget documents whose files were removed."""
        with self._db:
            for name, file, digest in self._db.execute("SELECT id, file, sha256 FROM document").fetchall():
                part = self.folder / FOLDER / digest
                if (self.folder / file).exists():
                    continue
                if part.exists():
                    _move(part, self.folder / file)
                else:
                    self._db.execute("DELETE FROM document WHERE id = ?", (name,))
                    self._db.execute("UPDATE candidate SET outcome = NULL WHERE id = ?", (name.partition("#")[0],))
        known_digests = {digest for (digest,) in self._db.execute("SELECT sha256 FROM part")}
        for part in (self.folder / FOLDER).iterdir():
            if part.name not in known_digests:
                part.unlink()

    def _add_listed(self, source: str, listed: ListedDocument) -> None:
        row = self._db.execute("SELECT row FROM candidate WHERE id = ?", (listed.id,)).fetchone()
        if row is None:
            self._db.execute(
                "INSERT INTO candidate (id, source, year, row) VALUES (?, ?, ?, ?)",
                (listed.id, source, listed.year, listed.model_dump_json()),
            )
            return
        earlier = ListedDocument.model_validate_json(row[0])
        groups = Keywords.merge(earlier.groups, listed.groups)
        files = tuple(dict.fromkeys((*earlier.files, *listed.files)))
        merged = listed.model_copy(update={"groups": groups, "files": files})
        if merged != earlier:
            self._db.execute(
                "UPDATE candidate SET row = ?, year = ? WHERE id = ?",
                (merged.model_dump_json(), merged.year, listed.id),
            )
            self._update_groups(merged)

    def _update_groups(self, listed: ListedDocument) -> None:
        query = "SELECT row FROM document WHERE id = ?1 OR substr(id, 1, length(?1) + 1) = ?1 || '#'"
        for (row,) in self._db.execute(query, (listed.id,)).fetchall():
            document = StoredDocument.model_validate_json(row).model_copy(update={"groups": listed.groups})
            self._db.execute("UPDATE document SET row = ? WHERE id = ?", (document.model_dump_json(), document.id))

    def _put(self, listed: ListedDocument, texts: Sequence[FetchedText]) -> int:
        new: dict[str, StoredDocument] = {}
        for text in texts:
            digest = hashlib.sha256(text.content).hexdigest()
            if digest not in new and not self._holds(digest):
                write(self.folder / FOLDER / digest, text.content)
                new[digest] = self._document(listed, text, digest)
        with self._db:
            self._db.executemany(
                "INSERT OR REPLACE INTO document VALUES (?, ?, ?, ?)",
                [(document.id, document.file, digest, document.model_dump_json()) for digest, document in new.items()],
            )
            self._db.execute(
                "UPDATE candidate SET outcome = ?, detail = NULL WHERE id = ?",
                (STORED if new else REPEATED, listed.id),
            )
            self._db.execute("DELETE FROM part WHERE candidate = ?", (listed.id,))
        for digest, document in new.items():
            _move(self.folder / FOLDER / digest, self.folder / document.file)
        with (self.folder / MANIFEST).open("a", encoding="utf-8") as out:
            out.writelines(f"{document.model_dump_json()}\n" for document in new.values())
        return len(new)

    def _holds(self, digest: str) -> bool:
        return self._db.execute("SELECT 1 FROM document WHERE sha256 = ?", (digest,)).fetchone() is not None

    def _document(self, listed: ListedDocument, text: FetchedText, digest: str) -> StoredDocument:
        name = f"{listed.id}#{text.part}" if text.part else listed.id
        file = self._name(listed.institution, name, digest, text.format.value)
        citation = listed.model_dump(exclude={"record", "files", "id"})
        return StoredDocument(id=name, file=file, sha256=digest, fetched_at=now(), **citation)

    def _name(self, institution: str, name: str, digest: str, suffix: str) -> str:
        file = f"{_plain(institution).lower()}/{_plain(name)}.{suffix}"
        taken_by = self._db.execute("SELECT id FROM document WHERE file = ? AND id != ?", (file, name)).fetchone()
        return file if taken_by is None else f"{file[: -len(suffix) - 1]}-{digest[:8]}.{suffix}"

    def _write_manifest(self) -> None:
        part = self.folder / FOLDER / MANIFEST
        with part.open("w", encoding="utf-8") as out:
            out.writelines(f"{document.model_dump_json()}\n" for document in self.documents())
        part.replace(self.folder / MANIFEST)


def _plain(name: str) -> str:
    """Return a name that is a safe file name on any system."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", name).strip("._-")[:120] or "document"


def _move(part: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part.replace(target)
