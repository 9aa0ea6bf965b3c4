"""Embed the starter evidence, so that a new knowledge base need not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from kb.query import Vectors
from kb.shipped import NAME, Passage, embed_passages, key, passages_of
from kb.starter import load_starter
from models.e5 import E5Embedder
from models.embedders import default_embedder


def embed_and_write(out: Path) -> str:
    """Write the vectors of the starter evidence into folder `out`, embedding what has none yet; return a summary."""
    passages = list(
        dict.fromkeys(passage for statement in load_starter() for passage in passages_of(statement.evidence()))
    )
    write(out / NAME, E5Embedder.name, passages, asyncio.run(_embed(passages)))
    return f"Wrote the vectors of {len(passages):,} passages to {out / NAME}."


async def _embed(passages: list[Passage]) -> Vectors:
    embedder = default_embedder()
    try:
        return await embed_passages(passages, embedder)
    finally:
        await embedder.close()


def write(path: Path, embedder: str, passages: Iterable[Passage], vectors: Vectors) -> None:
    """Write vectors in half precision; it moves a cosine by less than 0.001."""
    keys = np.array([np.frombuffer(key(passage), np.uint8) for passage in passages])
    np.savez_compressed(path, embedder=np.array(embedder), keys=keys, vectors=vectors.astype(np.float16))
