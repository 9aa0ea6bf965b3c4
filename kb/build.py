"""Build a knowledge base, and bring it up to date: add, replace and remove paragraphs."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import shutil
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence, Sized
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain import Evidence
from core.errors import KnowledgeBaseError
from kb import manifest, versions
from kb.segments import Batch, Segment, SegmentWriter
from kb.shipped import embed
from kb.snapshot import CENTRE, REMOVED, Snapshot
from kb.starter import fingerprint, load_starter
from kb.vectors import Centre

if TYPE_CHECKING:
    from models.embed import Embedder

log = logging.getLogger(__name__)

BATCH = 512
"""Paragraphs that are embedded and written at once."""
SMALL = 50_000
"""Paragraphs below which an update rewrites everything, and words are indexed by pieces."""
STALE = 0.2
"""Share of removed paragraphs above which an update rewrites everything."""
GROWTH = 4
"""An update leaves a segment as it is if the segment is more than this many times as large as all that follows."""


async def build(statements: Iterable[Evidence], embedder: Embedder, folder: Path) -> None:
    """Build a knowledge base into `folder` and make it the current version in one step; readers may be running.

    Statements are taken batch by batch, so that they need not fit into memory. Raises KnowledgeBaseError if there are
    no statements, if some repeat each other, or if the folder can't be written; ModelUnavailable or ModelRefused if
    embedding fails. In all these cases the folder stays as it was.
    """
    with _write_errors_explained(folder):
        async with versions.locked(folder):
            await _build(statements, embedder, folder)


async def ensure_starter(folder: Path, embedder: Embedder) -> None:
    """Make `folder` the knowledge base of the shipped statements, unless it already is.

    It is rebuilt if it is missing or damaged, or if the statements or the embedder changed.
    """
    statements = [statement.evidence() for statement in load_starter()]
    identity = (fingerprint(statements), embedder.name)
    if await asyncio.to_thread(_is_built, folder, identity):
        return
    with _write_errors_explained(folder):
        async with versions.locked(folder):
            if not await asyncio.to_thread(_is_built, folder, identity):
                log.info("Building the starter evidence")
                await _build(statements, embedder, folder)


async def update(folder: Path, embedder: Embedder, put: Sequence[Evidence] = (), remove: Collection[str] = ()) -> None:
    """Add or replace paragraphs (by id) and remove others, as a new version; readers may be running.

    Only paragraphs in `put` are embedded. Raises KnowledgeBaseError if there is no knowledge base or it is another
    embedder's, if a text is repeated, or if an id to remove is missing. In all these cases the folder stays as it was.
    """
    with _write_errors_explained(folder):
        async with versions.locked(folder):
            with closing(await asyncio.to_thread(Snapshot.open, folder)) as old:
                replaced = await asyncio.to_thread(_numbers_to_remove, old, embedder, put, remove)
                fresh = [await embed(put[start : start + BATCH], embedder) for start in range(0, len(put), BATCH)]
                with versions.new_version(folder) as version:
                    await asyncio.to_thread(_write_update, version, old, replaced, fresh)


async def _build(statements: Iterable[Evidence], embedder: Embedder, folder: Path) -> None:
    with versions.new_version(folder) as version:
        pieces = isinstance(statements, Sized) and len(statements) < SMALL
        writer = SegmentWriter(version / "0", pieces=pieces)
        marks = hashlib.sha256()
        with closing(writer):
            source = iter(statements)
            while batch := list(islice(source, BATCH)):
                marks.update("".join(paragraph.model_dump_json() for paragraph in batch).encode())
                await asyncio.to_thread(writer.add, await embed(batch, embedder))
            if not writer.size:
                raise KnowledgeBaseError(f"There is no statement to build {folder} from. Give at least one.")
            centre = await asyncio.to_thread(writer.finish)
            facts = manifest.Manifest(
                embedder=embedder.name,
                dimension=len(centre.query),
                paragraphs=writer.size,
                fingerprint=marks.hexdigest(),
                segments=("0",),
                files={},
            )
            await asyncio.to_thread(_finish_version, version, centre, np.empty(0, np.int64), facts)


def _is_built(folder: Path, identity: tuple[str, str]) -> bool:
    """Tell whether the current version has this identity: the statements' fingerprint and the embedder's name."""
    try:
        built = manifest.read(versions.current(folder))
    except KnowledgeBaseError as error:
        log.info("No starter evidence yet: %s", error)
        return False
    return (built.fingerprint, built.embedder) == identity


def _numbers_to_remove(
    old: Snapshot, embedder: Embedder, put: Sequence[Evidence], remove: Collection[str]
) -> NDArray[np.int64]:
    """Return the numbers of the paragraphs to replace or remove; raises KnowledgeBaseError if that can't be done."""
    if old.manifest.embedder != embedder.name:
        raise KnowledgeBaseError(
            f"The knowledge base was built with the embedder {old.manifest.embedder}, not "
            f"{embedder.name}. Build it again (`rejoinder kb build`), or set that embedder."
        )
    numbers = old.find([*remove, *(paragraph.id for paragraph in put)])
    if missing := set(remove) - set(numbers):
        raise KnowledgeBaseError(f"There is no paragraph '{min(missing)}' to remove. Look its id up with kb search.")
    if repeated := set(old.find_texts([paragraph.text for paragraph in put])) - set(numbers):
        raise KnowledgeBaseError(f"A paragraph repeats the text of '{min(repeated)}'. Drop one of the two.")
    return np.array(sorted(numbers.values()), np.int64)


def _write_update(version: Path, old: Snapshot, replaced: NDArray[np.int64], fresh: Sequence[Batch]) -> None:
    removed = np.union1d(old.removed, replaced)
    added = sum(len(batch.paragraphs) for batch in fresh)
    sizes = [segment.count for segment in old.segments]
    total = sum(sizes) + added
    if total - len(removed) <= 0:
        raise KnowledgeBaseError("The update would leave no paragraph. Keep at least one.")
    first_rewritten = _first_rewritten(sizes, added)
    if sum(sizes) < SMALL or len(removed) > STALE * total:
        first_rewritten = 0
    for name in old.manifest.segments[:first_rewritten]:
        _link(old.folder / name, version / name)
    names = [*old.manifest.segments[:first_rewritten]]
    centre = old.centre
    if fresh or first_rewritten < len(sizes):
        names.append(str(first_rewritten))
        with closing(SegmentWriter(version / names[-1], pieces=first_rewritten == 0 and total < SMALL)) as writer:
            for batch in (*_remaining(old, removed, first_rewritten), *fresh):
                writer.add(batch)
            centre = writer.finish(old.centre if first_rewritten else None)
    removed_from_linked = removed[removed < sum(sizes[:first_rewritten])]
    changes = {"segments": tuple(names), "paragraphs": total - len(removed)}
    _finish_version(version, centre, removed_from_linked, old.manifest.model_copy(update=changes))


def _first_rewritten(sizes: Sequence[int], added: int) -> int:
    """Return the first segment that an update rewrites; sizes then fall fast, and a search visits few segments."""
    place, following = len(sizes), added
    while place and sizes[place - 1] <= GROWTH * following:
        place -= 1
        following += sizes[place]
    return place


def _remaining(old: Snapshot, removed: NDArray[np.int64], first_segment: int) -> Iterator[Batch]:
    """Yield the paragraphs that stay, with their vectors, from `first_segment` on."""
    start = sum(segment.count for segment in old.segments[:first_segment])
    for segment in old.segments[first_segment:]:
        is_removed = np.isin(np.arange(segment.count) + start, removed)
        for first in range(0, segment.count, BATCH):
            numbers = np.flatnonzero(~is_removed[first : first + BATCH]) + first
            if len(numbers):
                yield _batch_of(segment, numbers)
        start += segment.count


def _batch_of(segment: Segment, numbers: NDArray[np.int64]) -> Batch:
    paragraphs = segment.store.get(numbers.tolist())
    vectors = segment.vectors.rows_of(numbers)
    weights = segment.sparse.weights_of(numbers) if segment.sparse else None
    return Batch(paragraphs, vectors, [1 + len(paragraph.answers) for paragraph in paragraphs], weights)


def _finish_version(version: Path, centre: Centre, removed: NDArray[np.int64], facts: manifest.Manifest) -> None:
    """Write the files that belong to the whole version, the manifest last."""
    np.save(version / CENTRE, np.stack([centre.query, centre.passage]))
    np.save(version / REMOVED, removed)
    manifest.write(version, facts.model_copy(update={"files": manifest.digests(version)}))


def _link(source: Path, target: Path) -> None:
    """Link a folder's files under a second name, or copy them if the file system has no links."""
    try:
        shutil.copytree(source, target, copy_function=os.link)
    except shutil.Error:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)


@contextmanager
def _write_errors_explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error, RuntimeError) as error:
        raise KnowledgeBaseError(
            f"The knowledge base could not be written to {folder}: {error}. See that the folder "
            "is writable and has room, then try again."
        ) from error
