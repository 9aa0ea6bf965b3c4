"""Build a knowledge base: store, vector index, word index, manifest."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kb import manifest, versions
from kb.shipped import embed_passages, passages_of
from kb.starter import fingerprint, load_starter
from kb.store import ParagraphStore
from kb.vectors import VectorIndex, Vectors
from kb.words import WordIndex
from rejoinder.domain import Evidence
from rejoinder.errors import KnowledgeBaseError

if TYPE_CHECKING:
    from models.embed import Embedder

log = logging.getLogger(__name__)


async def build(statements: Sequence[Evidence], embedder: Embedder, folder: Path) -> None:
    """Build a knowledge base into `folder` and make it the current version, in one step, under running readers.

    Raises KnowledgeBaseError for no or repeated statements and when it can't be written, ModelUnavailable or
    ModelRefused when embedding fails; then the folder is as it was.
    """
    if not statements:
        raise KnowledgeBaseError(f"There is no statement to build {folder} from. Give at least one.")
    vectors = await embed_passages([text for one in statements for text in passages_of(one)], embedder)
    try:
        await asyncio.to_thread(_write, statements, vectors, embedder.name, folder)
    except (OSError, sqlite3.Error, RuntimeError) as error:
        raise KnowledgeBaseError(f"The knowledge base could not be written to {folder}: {error}. See that the folder "
                                 "is writable and has room, then build again.") from error


async def ensure_starter(folder: Path, embedder: Embedder) -> None:
    """Make `folder` the knowledge base of the shipped statements, unless it is that already.

    It is built anew when it is missing or torn, and when the statements or the embedder changed.
    """
    statements = [statement.evidence() for statement in load_starter()]
    wanted = fingerprint(statements)
    try:
        found = await asyncio.to_thread(lambda: manifest.read(versions.current(folder)))
        if (found.fingerprint, found.embedder) == (wanted, embedder.name):
            return
        log.info("The starter evidence or its embedder changed; building it again")
    except KnowledgeBaseError as error:
        log.info("Building the starter evidence: %s", error)
    await build(statements, embedder, folder)


def _write(statements: Sequence[Evidence], vectors: Vectors, embedder: str, folder: Path) -> None:
    owners = np.repeat(np.arange(len(statements)), [len(passages_of(one)) for one in statements])
    texts = [" ".join(passages_of(one)) for one in statements]
    with versions.new_version(folder) as version:
        with closing(ParagraphStore.create(version)) as store:
            store.add(statements)
        VectorIndex.build(vectors, owners).save(version)
        WordIndex.build(texts, {one.language for one in statements}).save(version)
        manifest.write(version, manifest.Manifest(
            embedder=embedder, dimension=vectors.shape[1], paragraphs=len(statements), vectors=len(vectors),
            fingerprint=fingerprint(statements), files=manifest.digests(version)))
