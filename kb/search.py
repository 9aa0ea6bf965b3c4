"""Find the evidence that answers a post."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kb import manifest, versions
from kb.fusion import reciprocal_rank_fusion
from kb.store import Holding, ParagraphStore
from kb.vectors import VectorIndex, Vectors
from kb.words import WordIndex
from rejoinder.domain import Evidence, TargetGroup
from rejoinder.errors import KnowledgeBaseError
from rejoinder.settings import KnowledgeBaseSettings

if TYPE_CHECKING:
    from models.embed import Embedder

DEPTH = 50
"""Paragraphs taken from each ranking before they are merged."""
WINDOW = 3
"""How many times k fitting paragraphs may be passed over for the sake of another document."""


class Searcher:
    """Search one version of a knowledge base. Safe to call from many tasks of one event loop."""

    def __init__(self, store: ParagraphStore, vectors: VectorIndex, words: WordIndex, embedder: Embedder,
                 settings: KnowledgeBaseSettings) -> None:
        self._store, self._vectors, self._words = store, vectors, words
        self._embedder, self._settings = embedder, settings
        self._members = {group: store.members(group) for group in TargetGroup}
        self._count = store.count()

    @classmethod
    def open(cls, folder: Path, embedder: Embedder, settings: KnowledgeBaseSettings) -> Searcher:
        """Open the current version; raises KnowledgeBaseError when it is missing, torn or another embedder's."""
        version = versions.current(folder)
        found = manifest.read(version)
        if found.embedder != embedder.name:
            raise KnowledgeBaseError(f"{folder} was built with the embedder {found.embedder}, the settings name "
                                     f"{embedder.name}. Build it again, or set that embedder.")
        vectors, words = VectorIndex.load(version), WordIndex.load(version)
        return cls(ParagraphStore.open(version), vectors, words, embedder, settings)

    async def search(
        self,
        query: str,
        *,
        vector: NDArray[np.float32] | None = None,
        groups: Collection[TargetGroup] = (),
        k: int | None = None,
    ) -> list[Evidence]:
        """Return up to `k` statements that answer the query, best first; empty when none fits well enough.

        `vector` is the query's embedding, where the caller has it. With `groups`, a statement must share one of them.
        `score` is the cosine with the statement or the nearest claim it answers; below `min_relevance` it is left out.
        """
        if vector is None:
            vector = (await self._embedder.queries([query]))[0]
        unit = self._unit(vector)
        allowed = self._allowed(groups)
        ranking = reciprocal_rank_fusion(
            [self._vectors.search(unit, DEPTH, allowed), self._words.search(query, DEPTH, allowed)])
        scores = {number: self._vectors.cosine(unit, number) for number in ranking}
        fitting = [number for number in ranking if scores[number] >= self._settings.min_relevance]
        wanted = self._settings.top_k if k is None else k
        found = zip(fitting, self._store.get(fitting[:wanted * WINDOW]), strict=False)
        return _varied([one.model_copy(update={"score": scores[number]}) for number, one in found], wanted)

    def stats(self) -> list[Holding]:
        """Count documents and paragraphs by institution and group."""
        return self._store.stats()

    def close(self) -> None:
        """Close the store; safe to call twice."""
        self._store.close()

    def _allowed(self, groups: Collection[TargetGroup]) -> NDArray[np.bool_] | None:
        if not groups:
            return None
        allowed = np.zeros(self._count, dtype=np.bool_)
        for group in groups:
            allowed[self._members[group]] = True
        return allowed

    def _unit(self, vector: NDArray[np.float32]) -> Vectors:
        if vector.shape != (self._vectors.dimension,):
            raise KnowledgeBaseError(f"The query's embedding has shape {vector.shape}, the knowledge base has "
                                     f"dimension {self._vectors.dimension}. Build it again with the embedder in use.")
        length = float(np.linalg.norm(vector))
        return np.ascontiguousarray(vector / length if length else vector, dtype=np.float32)


def _varied(ranked: list[Evidence], k: int) -> list[Evidence]:
    """Take `k`, from different documents where there are enough of them, and keep the order."""
    seen: set[str] = set()
    first: list[int] = []
    later: list[int] = []
    for place, one in enumerate(ranked):
        (later if one.source.symbol in seen else first).append(place)
        seen.add(one.source.symbol)
    return [ranked[place] for place in sorted((first + later)[:k])]
