"""Open one version of a knowledge base, with all its segments as one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.domain import Evidence, TargetGroup
from core.errors import BadSettings, KnowledgeBaseError
from kb import manifest, versions
from kb.query import Mask, Retriever, Vectors
from kb.retrievers import HybridRetriever, JoinedRetriever
from kb.segments import Segment
from kb.store import Holding, holdings
from kb.vectors import Centre

CENTRE = "centre.npy"
REMOVED = "removed.npy"
WORDS_WEIGHT = 0.15
"""Weight of the ranking by words, against 1 for that by meaning; tuned on the dev half of the labelled posts."""


class Snapshot:
    """One version, which never changes. Paragraphs are numbered across all segments. Safe to use from many threads."""

    def __init__(
        self,
        folder: Path,
        facts: manifest.Manifest,
        segments: Sequence[Segment],
        centre: Centre,
        removed: NDArray[np.int64],
    ) -> None:
        self.folder, self.manifest, self.centre, self.removed = folder, facts, centre, removed
        self.segments = segments
        self._starts = np.cumsum([0, *(segment.count for segment in segments)])
        self._allowed = lru_cache(maxsize=64)(self._mask)
        self._users = 0
        self._retired = False

    @classmethod
    def open(cls, folder: Path) -> Snapshot:
        """Open the current version of a folder; raises KnowledgeBaseError if it is missing, damaged or foreign."""
        version = versions.current(folder)
        facts = manifest.read(version)
        try:
            centre = Centre(*np.load(version / CENTRE, allow_pickle=False))
            removed = np.load(version / REMOVED, allow_pickle=False)
        except (OSError, ValueError, TypeError) as error:
            raise KnowledgeBaseError(f"{version} lacks a part: {error}. {versions.BUILD_AGAIN}") from error
        return cls(version, facts, [Segment(version / name, centre) for name in facts.segments], centre, removed)

    def retriever(self, kind: str) -> Retriever:
        """Return a retriever by its name in the settings; raises BadSettings if this version has no index for it."""
        parts: dict[str, Callable[[Segment], Retriever | None]] = {
            "dense": lambda segment: segment.vectors,
            "words": lambda segment: segment.words,
            "sparse": lambda segment: segment.sparse,
        }
        if kind == "hybrid":
            return HybridRetriever([self.retriever("dense"), self.retriever("words")], [1.0, WORDS_WEIGHT])
        retrievers = [part for segment in self.segments if (part := parts[kind](segment)) is not None]
        if len(retrievers) != len(self.segments):
            raise BadSettings(
                f"kb.retriever is `{kind}`, but the knowledge base has no such index: its embedder, "
                f"{self.manifest.embedder}, does not weigh words. Choose another retriever."
            )
        if len(retrievers) == 1:
            return retrievers[0]
        return JoinedRetriever(retrievers, [segment.count for segment in self.segments])

    def allowed(self, groups: Collection[TargetGroup]) -> Mask | None:
        """Return a mask of the paragraphs that are there and, with `groups`, speak of one; None if all are allowed."""
        return self._allowed(frozenset(groups)) if groups or len(self.removed) else None

    def cosines(self, vector: Vectors, numbers: Sequence[int]) -> Vectors:
        """Return each paragraph's cosine with a unit vector: that of its text or of the nearest claim it answers."""
        return self._gather(numbers, lambda segment, at: segment.vectors.cosines(vector, at))

    def text_vectors(self, numbers: Sequence[int]) -> Vectors:
        """Return the centred unit vectors of these paragraphs' texts, shape (number of them, dimension)."""
        return self._gather(numbers, lambda segment, at: segment.vectors.text_vectors(at))

    def get(self, numbers: Sequence[int]) -> list[Evidence]:
        """Return the paragraphs with these numbers, in this order."""
        evidence: dict[int, Evidence] = {}
        for segment, start, places in self._split(np.array(numbers, np.int64)):
            at = [int(numbers[place]) - start for place in places]
            evidence.update(zip(map(int, places), segment.store.get(at), strict=True))
        return [evidence[place] for place in range(len(numbers))]

    def batches(self, size: int) -> Iterator[list[int]]:
        """Yield the numbers of all paragraphs that are not removed, `size` at a time."""
        present = np.flatnonzero(self._mask(frozenset()))
        yield from (present[start : start + size].tolist() for start in range(0, len(present), size))

    def find(self, ids: Collection[str]) -> dict[str, int]:
        """Return the numbers of the paragraphs with these ids, as far as they are there."""
        return self._present(lambda segment: segment.store.find(ids))

    def find_texts(self, texts: Collection[str]) -> dict[str, int]:
        """Return ids and numbers of the paragraphs that have one of these texts."""
        return self._present(lambda segment: segment.store.find_texts(texts))

    def stats(self) -> list[Holding]:
        """Count documents, paragraphs and words by institution and group."""
        return holdings(
            count
            for segment, start in zip(self.segments, self._starts, strict=False)
            for count in segment.store.document_counts(
                [n - start for n in self.removed if start <= n < start + segment.count]
            )
        )

    @contextmanager
    def in_use(self) -> Iterator[Snapshot]:
        """Keep the files open while the block runs, even when the snapshot is closed in it; for one event loop."""
        self._users += 1
        try:
            yield self
        finally:
            self._users -= 1
            if self._retired:
                self.close()

    def close(self) -> None:
        """Close the files as soon as nobody uses them; safe to call twice."""
        self._retired = True
        if not self._users:
            for segment in self.segments:
                segment.store.close()

    def _mask(self, groups: frozenset[TargetGroup]) -> Mask:
        mask = np.full(self._starts[-1], not groups, np.bool_)
        for segment, start in zip(self.segments, self._starts, strict=False):
            for group in groups:
                mask[start + segment.store.members(group)] = True
        mask[self.removed] = False
        return mask

    def _present(self, find: Callable[[Segment], dict[str, int]]) -> dict[str, int]:
        removed = set(self.removed.tolist())
        return {
            name: start + number
            for segment, start in zip(self.segments, self._starts.tolist(), strict=False)
            for name, number in find(segment).items()
            if start + number not in removed
        }

    def _gather(self, numbers: Sequence[int], take: Callable[[Segment, NDArray[np.int64]], Vectors]) -> Vectors:
        all_numbers = np.array(numbers, np.int64)
        parts = [
            (places, take(segment, all_numbers[places] - start)) for segment, start, places in self._split(all_numbers)
        ]
        if not parts:
            return np.empty(0, np.float32)
        gathered = np.empty((len(numbers), *parts[0][1].shape[1:]), np.float32)
        for places, values in parts:
            gathered[places] = values
        return gathered

    def _split(self, numbers: NDArray[np.int64]) -> Iterator[tuple[Segment, int, NDArray[np.int64]]]:
        """Yield each segment that has some of the numbers, where it starts, and the places of those."""
        for segment, start, end in zip(self.segments, self._starts, self._starts[1:], strict=False):
            places = np.flatnonzero((numbers >= start) & (numbers < end))
            if len(places):
                yield segment, int(start), places
