"""Make a knowledge base hold exactly what is given, and embed only what is new: the work of `rejoinder kb build`."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from kb.build import build, update
from kb.snapshot import Snapshot
from rejoinder.domain import Evidence
from rejoinder.errors import KnowledgeBaseError

if TYPE_CHECKING:
    from models.embed import Embedder

log = logging.getLogger(__name__)

PORTION = 2_000
"""Paragraphs after which a version is written: what an interruption costs at most, some minutes of embedding."""
READ = 1_000


@dataclass(frozen=True)
class Change:
    """Count what a sync put (new or changed), removed (gone or changed) and kept."""

    put: int
    removed: int
    kept: int


async def sync(
    statements: Callable[[], Iterable[Evidence]],
    embedder: Embedder,
    folder: Path,
    progress: Callable[[int, int], None] = lambda done, wanted: None,
) -> Change:
    """Make `folder` hold the statements, whatever it held before; `statements()` yields them, each time the same.

    Versions are written as it goes on, under running readers, so that a run that was interrupted is taken up where it
    was. `progress` is told how many are embedded of how many. Raises what `kb.build.build` and `update` raise.
    """
    held = await asyncio.to_thread(_held, folder, embedder)
    wanted = {one.id: _mark(one) for one in statements()}
    stale = [name for name, mark in held.items() if wanted.get(name) != mark]
    fresh = {name for name, mark in wanted.items() if held.get(name) != mark}
    change = Change(len(fresh), len(stale), len(held) - len(stale))
    done, source = 0, (one for one in statements() if one.id in fresh)
    progress(done, len(fresh))
    if not change.kept:
        await build(first := _portion(source), embedder, folder)
        progress(done := len(first), len(fresh))
    elif stale:
        await update(folder, embedder, put=(first := _portion(source)), remove=stale)
        progress(done := len(first), len(fresh))
    while portion := _portion(source):
        await update(folder, embedder, put=portion)
        progress(done := done + len(portion), len(fresh))
    return change


def _portion(source: Iterator[Evidence]) -> list[Evidence]:
    return list(islice(source, PORTION))


def _held(folder: Path, embedder: Embedder) -> dict[str, bytes]:
    """Return the mark of every paragraph by its id; none when what is there is of no use for an update."""
    try:
        snapshot = Snapshot.open(folder)
    except KnowledgeBaseError as error:
        log.info("Building from nothing: %s", error)
        return {}
    with closing(snapshot):
        if snapshot.manifest.embedder != embedder.name:
            log.info("Building from nothing: the embedder was %s", snapshot.manifest.embedder)
            return {}
        return {one.id: _mark(one) for numbers in snapshot.batches(READ) for one in snapshot.get(numbers)}


def _mark(one: Evidence) -> bytes:
    return hashlib.blake2b(one.model_dump_json(exclude={"score", "summary"}).encode(), digest_size=16).digest()
