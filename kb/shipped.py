"""Read the shipped vectors of the starter evidence and of the claims' wordings, which take a minute to embed.

After the texts change, `rejoinder train starter-vectors` writes them anew; a test fails when that is due.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.domain import Evidence
from core.errors import KnowledgeBaseError
from kb.query import Vectors
from kb.segments import Batch
from kb.sparse import SparseEmbedder
from kb.vectors import normalised
from models.arrays import open_arrays

if TYPE_CHECKING:
    from models.embed import Embedder

NAME = "starter_vectors.npz"
BATCH = 32


class TextToEmbed(NamedTuple):
    """A text to embed: a paragraph's, or that of a claim it answers, which is worded like a query."""

    text: str
    is_claim: bool


def texts_to_embed(evidence: Evidence) -> tuple[TextToEmbed, ...]:
    """Return the texts to embed for a paragraph: its own, and each claim that it answers, which are nearer to posts."""
    return (TextToEmbed(evidence.text, False), *(TextToEmbed(claim, True) for claim in evidence.answers))


@lru_cache(maxsize=1)
def shipped_vectors(embedder: str) -> dict[bytes, Vectors]:
    """Return the shipped vectors by the key of their text; none if they are another embedder's."""
    with open_arrays(files("kb") / "data" / NAME, "The shipped vectors", KnowledgeBaseError) as data:
        if str(data["embedder"]) != embedder:
            return {}
        return dict(zip((key.tobytes() for key in data["keys"]), normalised(data["bytes"]), strict=True))


async def embed(statements: Sequence[Evidence], embedder: Embedder) -> Batch:
    """Embed statements, using shipped vectors where there are any."""
    passages = [passage for statement in statements for passage in texts_to_embed(statement)]
    vectors = normalised(await embed_texts(passages, embedder))
    weights = None
    if isinstance(embedder, SparseEmbedder):
        weights = await embedder.token_weights(
            [" ".join((statement.text, *statement.answers)) for statement in statements]
        )
    return Batch(statements, vectors, [1 + len(statement.answers) for statement in statements], weights)


async def embed_texts(passages: Sequence[TextToEmbed], embedder: Embedder) -> Vectors:
    """Embed texts and claims; shape (number of them, dimension)."""
    shipped = shipped_vectors(embedder.name)
    vectors_by_key = {key(passage): shipped[key(passage)] for passage in passages if key(passage) in shipped}
    for is_claim in (False, True):
        alike = (passage for passage in passages if passage.is_claim == is_claim)
        missing = list(dict.fromkeys(passage for passage in alike if key(passage) not in vectors_by_key))
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            texts = [passage.text for passage in batch]
            vectors = await (embedder.queries(texts) if is_claim else embedder.passages(texts))
            vectors_by_key.update(zip(map(key, batch), vectors, strict=True))
    return np.stack([vectors_by_key[key(passage)] for passage in passages])


def in_bytes(vectors: Vectors) -> NDArray[np.int8]:
    """Return unit vectors with one byte per number, scaled to the largest; a cosine changes by less than 0.001."""
    return np.asarray(np.rint(127 * vectors / np.abs(vectors).max(axis=1, keepdims=True)), np.int8)


def key(passage: TextToEmbed) -> bytes:
    """Return the key of a passage: the first 16 bytes of a SHA-256."""
    return hashlib.sha256(f"{'claim' if passage.is_claim else 'text'}: {passage.text}".encode()).digest()[:16]
