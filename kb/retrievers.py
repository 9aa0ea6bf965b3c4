"""Let every way to find paragraphs look the same, and combine them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kb.fusion import reciprocal_rank_fusion
from kb.postings import Hit, Mask
from kb.sparse import TokenWeights
from kb.vectors import Vectors


@dataclass(frozen=True)
class Query:
    """Be what is looked for, as each retriever needs it: words, a unit vector, weighted tokens."""

    text: str
    vector: Vectors | None = None
    weights: TokenWeights | None = None


class Retriever(Protocol):
    """Find paragraphs.

    Any text may be asked for. A retriever that lacks its part of the query finds nothing. It holds a thread up, is
    safe to call from many of them, and gives the same answer to the same query.
    """

    def retrieve(self, query: Query, depth: int, allowed: Mask | None = None) -> list[Hit]:
        """Return up to `depth` different paragraphs, best first; `allowed` says for each number whether it may come."""


class Joined:
    """Search several parts of a knowledge base as one; `sizes` says how many paragraphs each part numbers."""

    def __init__(self, parts: Sequence[Retriever], sizes: Sequence[int]) -> None:
        self._parts, self._sizes = parts, sizes

    def retrieve(self, query: Query, depth: int, allowed: Mask | None = None) -> list[Hit]:
        """Return the best of all parts by score."""
        hits: list[Hit] = []
        start = 0
        for part, size in zip(self._parts, self._sizes, strict=True):
            mask = None if allowed is None else allowed[start : start + size]
            hits += [Hit(start + number, score) for number, score in part.retrieve(query, depth, mask)]
            start += size
        return sorted(hits, key=lambda hit: -hit.score)[:depth]


class Hybrid:
    """Merge what several retrievers find, by rank."""

    def __init__(self, retrievers: Sequence[Retriever], weights: Sequence[float]) -> None:
        self._retrievers, self._weights = retrievers, weights

    def retrieve(self, query: Query, depth: int, allowed: Mask | None = None) -> list[Hit]:
        """Return what they find, best first; the score falls with the rank and means nothing else."""
        rankings = [[hit.number for hit in one.retrieve(query, depth, allowed)] for one in self._retrievers]
        merged = reciprocal_rank_fusion(rankings, self._weights)[:depth]
        return [Hit(number, 1 / rank) for rank, number in enumerate(merged, start=1)]
