"""Combine retrievers: several parts of a knowledge base searched as one, or several kinds of search merged."""

from __future__ import annotations

from collections.abc import Sequence

from kb.fusion import reciprocal_rank_fusion
from kb.query import Hit, Mask, Query, Retriever


class JoinedRetriever:
    """One retriever over several parts of a knowledge base; `sizes` are the numbers of paragraphs in the parts."""

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


class HybridRetriever:
    """One retriever made of several, whose results are merged by rank."""

    def __init__(self, retrievers: Sequence[Retriever], weights: Sequence[float]) -> None:
        self._retrievers, self._weights = retrievers, weights

    def retrieve(self, query: Query, depth: int, allowed: Mask | None = None) -> list[Hit]:
        """Return the merged results, best first; the score falls with the rank and has no other meaning."""
        rankings = [[hit.number for hit in retriever.retrieve(query, depth, allowed)] for retriever in self._retrievers]
        merged = reciprocal_rank_fusion(rankings, self._weights)[:depth]
        return [Hit(number, 1 / rank) for rank, number in enumerate(merged, start=1)]
