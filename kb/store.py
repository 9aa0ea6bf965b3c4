"""Keep paragraphs with their sources in one SQLite file, numbered from 0 in the order they were added."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.domain import Evidence, Source, TargetGroup
from core.errors import KnowledgeBaseError
from kb.versions import BUILD_AGAIN, BUILD_FIRST

FILE = "paragraphs.sqlite"
SCHEMA = 1
_APPLICATION = 0x526A4B42
"""Marks our files (SQLite's application_id), so that a foreign database can be told from a damaged one."""

_TABLES = """
CREATE TABLE paragraph (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, answers TEXT NOT NULL,
    language TEXT NOT NULL, words INTEGER NOT NULL, institution TEXT NOT NULL, title TEXT NOT NULL,
    symbol TEXT NOT NULL, locator TEXT NOT NULL, year INTEGER NOT NULL, url TEXT NOT NULL, sha256 TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE paragraph_group (
    target_group TEXT NOT NULL, number INTEGER NOT NULL REFERENCES paragraph, place INTEGER NOT NULL,
    PRIMARY KEY (target_group, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX paragraph_group_number ON paragraph_group (number, place);
"""
_COLUMNS = "id, text, answers, language, institution, title, symbol, locator, year, url"


@dataclass(frozen=True)
class Holding:
    """An institution's documents and paragraphs on a group; `words` is the mean length of its paragraphs."""

    institution: str
    group: TargetGroup
    documents: int
    paragraphs: int
    words: float


@dataclass(frozen=True)
class DocumentCount:
    """A document's paragraphs and words on a group."""

    institution: str
    group: TargetGroup
    symbol: str
    paragraphs: int
    words: int


class ParagraphStore:
    """The paragraphs of a knowledge base.

    A store is filled once, by one process, and then opened read-only by any number of processes. Safe to use from many
    threads.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._lock = threading.Lock()

    @classmethod
    def create(cls, folder: Path) -> ParagraphStore:
        """Create an empty store in a folder; raises KnowledgeBaseError if the folder already has one."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / FILE
        if path.exists():
            raise KnowledgeBaseError(f"{path} is there already. Build into an empty folder.")
        connection = sqlite3.connect(path, check_same_thread=False)
        # No journal on disk, no fsync: unfinished stores are thrown away, and finished ones have checksums.
        connection.executescript(
            "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; "
            f"PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {SCHEMA}; {_TABLES}"
        )
        return cls(connection, path)

    @classmethod
    def open(cls, folder: Path) -> ParagraphStore:
        """Open a filled store read-only; raises KnowledgeBaseError if missing, damaged, foreign or too new."""
        path = folder / FILE
        if not path.is_file():
            raise KnowledgeBaseError(f"There is no knowledge base in {folder}: {FILE} is missing. {BUILD_FIRST}")
        store = cls(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False), path)
        with store._readable() as db:
            marks = (db.execute("PRAGMA application_id").fetchone()[0], db.execute("PRAGMA user_version").fetchone()[0])
        if marks != (_APPLICATION, SCHEMA):
            store.close()
            raise KnowledgeBaseError(f"{path} is not a paragraph store of this version. {BUILD_AGAIN}")
        return store

    def add(self, paragraphs: Iterable[Evidence]) -> None:
        """Add paragraphs, all or none; raises KnowledgeBaseError if an id or a text is there already."""
        try:
            with self._connection:
                for number, item in enumerate(paragraphs, start=self.count()):
                    self._insert(number, item)
        except sqlite3.IntegrityError as error:
            raise KnowledgeBaseError(
                f"A paragraph for {self._path} repeats one that is there: {error}. Ids and texts "
                "must differ; drop the second."
            ) from error

    def get(self, numbers: Sequence[int]) -> list[Evidence]:
        """Return the paragraphs with these numbers, in this order; raises KnowledgeBaseError if one is missing."""
        marks = ",".join("?" * len(numbers))
        with self._readable() as db:
            rows = db.execute(
                f"SELECT number, {_COLUMNS} FROM paragraph WHERE number IN ({marks})",  # noqa: S608
                numbers,
            ).fetchall()
            pairs = db.execute(
                "SELECT number, target_group FROM paragraph_group "  # noqa: S608
                f"WHERE number IN ({marks}) ORDER BY number, place",
                numbers,
            ).fetchall()
        groups = defaultdict[int, list[str]](list)
        for number, group in pairs:
            groups[number].append(group)
        evidence = {row[0]: _evidence(row[1:], groups[row[0]]) for row in rows}
        if missing := [number for number in numbers if number not in evidence]:
            raise KnowledgeBaseError(
                f"{self._path} has no paragraph number {missing[0]}, but the index names it. {BUILD_AGAIN}"
            )
        return [evidence[number] for number in numbers]

    def count(self) -> int:
        """Return how many paragraphs there are."""
        with self._readable() as db:
            return int(db.execute("SELECT ifnull(max(number) + 1, 0) FROM paragraph").fetchone()[0])

    def find(self, ids: Collection[str]) -> dict[str, int]:
        """Return the numbers of the paragraphs with these ids, as far as they are there."""
        with self._readable() as db:
            return dict(
                db.execute(
                    "SELECT id, number FROM paragraph WHERE id IN (SELECT value FROM json_each(?))",
                    (json.dumps(list(ids)),),
                )
            )

    def find_texts(self, texts: Collection[str]) -> dict[str, int]:
        """Return the ids and numbers of the paragraphs that have one of these texts."""
        with self._readable() as db:
            return dict(
                db.execute(
                    "SELECT id, number FROM paragraph WHERE sha256 IN (SELECT value FROM json_each(?))",
                    (json.dumps([_digest(text) for text in texts]),),
                )
            )

    def members(self, group: TargetGroup) -> NDArray[np.int64]:
        """Return the numbers of the paragraphs that speak of a group, ascending."""
        with self._readable() as db:
            rows = db.execute("SELECT number FROM paragraph_group WHERE target_group = ?", (group.value,)).fetchall()
        return np.array([row[0] for row in rows], dtype=np.int64)

    def document_counts(self, without: Sequence[int] = ()) -> list[DocumentCount]:
        """Count paragraphs and words by institution, group and document; the numbers in `without` are left out."""
        with self._readable() as db:
            rows = db.execute(
                "SELECT institution, target_group, symbol, count(*), sum(words) FROM paragraph "
                "JOIN paragraph_group USING (number) WHERE number NOT IN "
                "(SELECT value FROM json_each(?)) GROUP BY 1, 2, 3",
                (json.dumps(list(map(int, without))),),
            ).fetchall()
        return [DocumentCount(row[0], TargetGroup(row[1]), *row[2:]) for row in rows]

    def close(self) -> None:
        """Close the file once no thread is reading; safe to call twice."""
        with self._lock:
            self._connection.close()

    def _insert(self, number: int, item: Evidence) -> None:
        at = item.source
        self._connection.execute(
            "INSERT INTO paragraph VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                item.id,
                item.text,
                json.dumps(item.answers),
                item.language,
                len(item.text.split()),
                at.institution,
                at.title,
                at.symbol,
                at.locator,
                at.year,
                at.url,
                _digest(item.text),
            ),
        )
        self._connection.executemany(
            "INSERT INTO paragraph_group VALUES (?, ?, ?)",
            [(group.value, number, place) for place, group in enumerate(item.groups)],
        )

    @contextmanager
    def _readable(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                yield self._connection
        except sqlite3.DatabaseError as error:
            raise KnowledgeBaseError(f"{self._path} can't be read: {error}. {BUILD_AGAIN}") from error


def holdings(documents: Iterable[DocumentCount]) -> list[Holding]:
    """Sum the documents' counts by institution and group; each document counts once."""
    sums = defaultdict[tuple[str, TargetGroup], list[DocumentCount]](list)
    for document in documents:
        sums[document.institution, document.group].append(document)
    return [
        Holding(
            institution,
            group,
            len({count.symbol for count in counts}),
            sum(count.paragraphs for count in counts),
            sum(count.words for count in counts) / sum(count.paragraphs for count in counts),
        )
        for (institution, group), counts in sorted(sums.items())
    ]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _evidence(row: tuple[str, str, str, str, str, str, str, str, int, str], groups: list[str]) -> Evidence:
    name, text, answers, language, institution, title, symbol, locator, year, url = row
    source = Source(institution=institution, title=title, symbol=symbol, locator=locator, year=year, url=url)
    return Evidence(
        id=name,
        text=text,
        groups=tuple(TargetGroup(group) for group in groups),
        source=source,
        answers=tuple(json.loads(answers)),
        language=language,
    )
