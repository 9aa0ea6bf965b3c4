"""Embed the starter evidence and the claims' wordings, so that a new knowledge base doesn't have to."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from kb.claims.loading import load_claims
from kb.claims.matching import wordings_of
from kb.query import Vectors
from kb.shipped import NAME, TextToEmbed, embed_texts, in_bytes, key, texts_to_embed
from kb.starter import load_starter
from models.e5 import E5Embedder
from models.embedders import default_embedder


def embed_and_write(out: Path) -> str:
    """Write the vectors of all shipped texts into folder `out`, embedding those that have none; return a summary."""
    passages = shipped_passages()
    write(out / NAME, E5Embedder.name, passages, asyncio.run(_embed(passages)))
    return f"Wrote the vectors of {len(passages):,} passages to {out / NAME}."


def shipped_passages() -> list[TextToEmbed]:
    """Return every text whose vector is shipped, once."""
    statements = (passage for statement in load_starter() for passage in texts_to_embed(statement.evidence()))
    wordings = (TextToEmbed(wording.text, True) for wording in wordings_of(load_claims()))
    return list(dict.fromkeys([*statements, *wordings]))


async def _embed(passages: list[TextToEmbed]) -> Vectors:
    embedder = default_embedder()
    try:
        return await embed_texts(passages, embedder)
    finally:
        await embedder.close()


def write(path: Path, embedder: str, passages: Iterable[TextToEmbed], vectors: Vectors) -> None:
    """Write unit vectors, with the keys of their texts and the name of their embedder."""
    keys = np.array([np.frombuffer(key(passage), np.uint8) for passage in passages])
    np.savez_compressed(path, embedder=np.array(embedder), keys=keys, bytes=in_bytes(vectors))
