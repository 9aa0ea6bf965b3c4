"""Make a knowledge base hold exactly what is given, embedding only what is new: the work of `rejoinder kb build`."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from core.domain import Evidence
from core.errors import KnowledgeBaseError
from kb import versions
from kb.build import build, update
from kb.snapshot import Snapshot

if TYPE_CHECKING:
    from models.embed import Embedder

log = logging.getLogger(__name__)

PORTION = 2_000
"""Paragraphs after which a version is written; an interruption loses no more than these, some minutes of embedding."""
READ = 1_000


@dataclass(frozen=True)
class SyncCounts:
    """How many paragraphs a sync put (new or changed), removed (gone or changed) and kept.

    `skipped` maps the id of each paragraph left out to the id of the earlier paragraph with the same text.
    """

    put: int
    removed: int
    kept: int
    skipped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Digests:
    """The digests of a paragraph in the knowledge base: of the whole paragraph, and of its text."""

    mark: bytes
    text: bytes


async def sync(
    statements: Callable[[], Iterable[Evidence]],
    embedder: Embedder,
    folder: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> SyncCounts:
    """Make `folder` hold the statements, whatever it held before; `statements()` yields the same ones at each call.

    A text is kept once, under the first id it is given, since a knowledge base refuses a repeated text.

    Versions are written along the way while readers may be running, so that a later run continues an interrupted one.
    The first version removes what is gone. A changed text stays searchable in its old form until its new form is
    embedded. `progress` is called with the numbers of embedded paragraphs and of paragraphs to embed. Raises what
    `kb.build.build` and `update` raise.
    """
    digests = await asyncio.to_thread(_read_digests, folder, embedder)
    marks, skipped, holders = _marks(statements())
    fresh = {name for name, mark in marks.items() if name not in digests or digests[name].mark != mark}
    stale = [name for name in digests if name not in marks or name in fresh]
    # A changed paragraph is replaced in its turn, or at once if another takes over its old text: no text is held twice.
    removed_first = [name for name in stale if name not in marks or holders.get(digests[name].text, name) != name]
    change = SyncCounts(len(fresh), len(stale), len(digests) - len(stale), skipped)
    unwritten = (statement for statement in statements() if statement.id in fresh)
    written = 0
    progress(written, len(fresh))
    portion = _portion(unwritten)
    if len(removed_first) == len(digests):
        await build(portion, embedder, folder)
    elif removed_first or portion:
        await update(folder, embedder, put=portion, remove=removed_first)
    while portion:
        progress(written := written + len(portion), len(fresh))
        if portion := _portion(unwritten):
            await update(folder, embedder, put=portion)
    return change


def _marks(statements: Iterable[Evidence]) -> tuple[dict[str, bytes], dict[str, str], dict[bytes, str]]:
    """Return mappings: each id to hold to its mark, each skipped id to the id with its text, each text to its id."""
    marks: dict[str, bytes] = {}
    skipped: dict[str, str] = {}
    first: dict[bytes, str] = {}
    for statement in statements:
        name = first.setdefault(_digest(statement.text), statement.id)
        if name == statement.id:
            marks[name] = _mark(statement)
        else:
            skipped[statement.id] = name
    return marks, skipped, first


def _portion(source: Iterator[Evidence]) -> list[Evidence]:
    return list(islice(source, PORTION))


def _read_digests(folder: Path, embedder: Embedder) -> dict[str, _Digests]:
    """Return the digests of every paragraph by its id; none if the folder can't be updated and must be built anew."""
    if versions.stamp(folder) is None:
        log.info("Building from nothing: %s holds no knowledge base yet", folder)
        return {}
    try:
        snapshot = Snapshot.open(folder)
    except KnowledgeBaseError as error:
        log.info("Building from nothing, since what is there can't be used: %s", error)
        return {}
    with closing(snapshot):
        if snapshot.manifest.embedder != embedder.name:
            log.info("Building from nothing: the embedder was %s", snapshot.manifest.embedder)
            return {}
        return {
            paragraph.id: _Digests(_mark(paragraph), _digest(paragraph.text))
            for numbers in snapshot.batches(READ)
            for paragraph in snapshot.get(numbers)
        }


def _mark(paragraph: Evidence) -> bytes:
    return _digest(paragraph.model_dump_json(exclude={"score", "summary"}))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
