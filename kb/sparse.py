"""Find paragraphs by the words that a model weighs as important: learned sparse weights, as of BGE-M3."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kb.postings import Postings, PostingsWriter
from kb.query import Hit, Mask, Query, TokenWeights

FOLDER = "sparse"


@runtime_checkable
class SparseEmbedder(Protocol):
    """An embedder that also weighs words."""

    async def token_weights(self, texts: Sequence[str]) -> list[TokenWeights]:
        """Return for each text its tokens' numbers with their weights."""


class SparseIndex:
    """Texts by their weighted tokens; the score is the sum of products over shared tokens.

    Source: Chen et al., "M3-Embedding", 2024, section 3.2, lexical retrieval.
    """

    def __init__(self, postings: Postings) -> None:
        self._postings = postings

    @classmethod
    def load(cls, folder: Path) -> SparseIndex:
        """Map an index; raises KnowledgeBaseError when it is missing or damaged."""
        return cls(Postings.load(folder / FOLDER))

    def retrieve(self, query: Query, depth: int, allowed: Mask | None = None) -> list[Hit]:
        """Return up to `depth` texts that share a token with the query, best first."""
        return self._postings.best(query.weights or {}, depth, allowed)

    def weights_of(self, numbers: NDArray[np.int64]) -> Sequence[TokenWeights]:
        """Return the weighted tokens of these texts."""
        return self._postings.tokens_of(numbers)


class SparseWriter:
    """A writer of a sparse index into a folder, in bounded memory."""

    def __init__(self, folder: Path) -> None:
        self._writer = PostingsWriter(folder / FOLDER)

    def add(self, weights: TokenWeights) -> None:
        """Add a text by its weights; it gets the next number."""
        self._writer.add(weights)

    def finish(self) -> None:
        """Write the rest."""
        self._writer.finish({})
