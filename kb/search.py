"""Find the evidence that answers a post."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kb import versions
from kb.postings import Mask
from kb.rerank import Candidate, Reranker
from kb.retrievers import Query
from kb.snapshot import Snapshot
from kb.sparse import SparseEmbedder
from kb.store import Holding
from kb.vectors import Vectors
from rejoinder.domain import Evidence, TargetGroup
from rejoinder.errors import KnowledgeBaseError
from rejoinder.settings import KnowledgeBaseSettings

if TYPE_CHECKING:
    from models.embed import Embedder

log = logging.getLogger(__name__)

DEPTH = 100
"""Paragraphs taken from each ranking before they are merged."""
WINDOW = 2
"""How many times k fitting paragraphs may be passed over for the sake of another document."""
RERANKED = 20
"""Fitting paragraphs that a reranker sees."""
RETRIEVER = "hybrid"


class Searcher:
    """Search the current version of a knowledge base. Safe to call from many tasks of one event loop.

    When a new version is swapped in, searches that have begun end on the old one and later ones go to the new; a torn
    version is reported and not used.
    """

    def __init__(self, folder: Path, snapshot: Snapshot, embedder: Embedder, settings: KnowledgeBaseSettings,
                 retriever: str, reranker: Reranker | None) -> None:
        self._folder, self._snapshot, self._embedder = folder, snapshot, embedder
        self._settings, self._kind, self._reranker = settings, retriever, reranker
        self._stamp = versions.stamp(folder)
        self._refreshing: asyncio.Task[None] | None = None

    @classmethod
    def open(cls, folder: Path, embedder: Embedder, settings: KnowledgeBaseSettings, *, retriever: str = RETRIEVER,
             reranker: Reranker | None = None) -> Searcher:
        """Open the current version; raises KnowledgeBaseError when it is missing, torn or another embedder's.

        `retriever` is `hybrid`, `dense`, `words` or `sparse`.
        """
        snapshot = _opened(folder, embedder)
        snapshot.retriever(retriever)
        return cls(folder, snapshot, embedder, settings, retriever, reranker)

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
        self._notice()
        asked = await self._query(query, vector)
        wanted = self._settings.top_k if k is None else k
        with self._snapshot.used() as snapshot:
            seen = max(RERANKED if self._reranker else 0, wanted * WINDOW)
            found = await asyncio.to_thread(self._candidates, snapshot, asked, groups, seen)
        if self._reranker:
            return [one.evidence for one in (await self._reranker.rerank(query, found))[:wanted]]
        return _varied([one.evidence for one in found], wanted)

    async def refresh(self) -> None:
        """Go over to the newest version now; raises KnowledgeBaseError when it can't be used, and stays then."""
        self._stamp = versions.stamp(self._folder)
        fresh = await asyncio.to_thread(_opened, self._folder, self._embedder)
        self._snapshot, old = fresh, self._snapshot
        old.close()

    def stats(self) -> list[Holding]:
        """Count documents and paragraphs by institution and group."""
        return self._snapshot.stats()

    def close(self) -> None:
        """Close the files; safe to call twice."""
        if self._refreshing:
            self._refreshing.cancel()
        self._snapshot.close()

    def _notice(self) -> None:
        """Begin to open a newer version beside the one in use, unless that is being done."""
        if versions.stamp(self._folder) != self._stamp and (self._refreshing is None or self._refreshing.done()):
            self._refreshing = asyncio.create_task(self._refresh_if_sound())

    async def _refresh_if_sound(self) -> None:
        try:
            await self.refresh()
            log.info("Searching the new version of %s", self._folder)
        except KnowledgeBaseError as error:
            log.error("The new version of %s is not used: %s", self._folder, error)

    async def _query(self, text: str, vector: NDArray[np.float32] | None) -> Query:
        if vector is None:
            vector = (await self._embedder.queries([text]))[0]
        weights = None
        if self._kind == "sparse" and isinstance(self._embedder, SparseEmbedder):
            weights = (await self._embedder.token_weights([text]))[0]
        return Query(text, self._unit(vector), weights)

    def _candidates(
        self, snapshot: Snapshot, query: Query, groups: Collection[TargetGroup], most: int
    ) -> list[Candidate]:
        """Return the paragraphs that fit, best first."""
        assert query.vector is not None
        allowed: Mask | None = snapshot.allowed(groups)
        numbers = [hit.number for hit in snapshot.retriever(self._kind).retrieve(query, DEPTH, allowed)]
        cosines = snapshot.cosines(query.vector, numbers)
        fitting = [place for place, cosine in enumerate(cosines) if cosine >= self._settings.min_relevance][:most]
        chosen = [numbers[place] for place in fitting]
        vectors = snapshot.texts(chosen) if self._reranker else [None] * len(chosen)
        return [Candidate(one.model_copy(update={"score": float(cosines[place])}), vector)
                for one, place, vector in zip(snapshot.get(chosen), fitting, vectors, strict=True)]

    def _unit(self, vector: NDArray[np.float32]) -> Vectors:
        dimension = self._snapshot.manifest.dimension
        if vector.shape != (dimension,):
            raise KnowledgeBaseError(f"The query's embedding has shape {vector.shape}, the knowledge base has "
                                     f"dimension {dimension}. Build it again with the embedder in use.")
        length = float(np.linalg.norm(vector))
        return np.ascontiguousarray(vector / length if length else vector, dtype=np.float32)


def _opened(folder: Path, embedder: Embedder) -> Snapshot:
    snapshot = Snapshot.open(folder)
    if snapshot.manifest.embedder != embedder.name:
        snapshot.close()
        raise KnowledgeBaseError(f"{folder} was built with the embedder {snapshot.manifest.embedder}, the settings "
                                 f"name {embedder.name}. Build it again, or set that embedder.")
    return snapshot


def _varied(ranked: Sequence[Evidence], k: int) -> list[Evidence]:
    """Take `k`, from different documents where there are enough of them, and keep the order."""
    seen: set[str] = set()
    first: list[int] = []
    later: list[int] = []
    for place, one in enumerate(ranked[:k * WINDOW]):
        (later if one.source.symbol in seen else first).append(place)
        seen.add(one.source.symbol)
    return [ranked[place] for place in sorted((first + later)[:k])]
