"""Write and open segments, the parts of a knowledge base; each has its own store and indexes.

A knowledge base is built as one segment. An update of a large one adds a small segment and marks paragraphs as removed,
so that its cost depends on what is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.domain import Evidence
from kb.query import TokenWeights, Vectors
from kb.sparse import FOLDER as SPARSE
from kb.sparse import SparseIndex, SparseWriter
from kb.store import ParagraphStore
from kb.vectors import ROWS, Centre, Halves, Numbers, VectorIndex
from kb.words import WordIndex, WordWriter

PRIOR = 10
"""Count of zero vectors that every mean includes, since the mean of a handful of vectors says little about all."""


@dataclass(frozen=True)
class Batch:
    """Paragraphs with their vectors, each text's before its claims'; `counts` are the vectors per paragraph."""

    paragraphs: Sequence[Evidence]
    vectors: Halves
    counts: Sequence[int]
    weights: Sequence[TokenWeights] | None = None


class SegmentWriter:
    """A writer of one segment into a folder, batch by batch, in bounded memory."""

    def __init__(self, folder: Path, *, pieces: bool) -> None:
        self._folder = folder
        self._store = ParagraphStore.create(folder)
        self._rows = (folder / ROWS).open("wb")
        self._words = WordWriter(folder, pieces=pieces)
        self._sparse: SparseWriter | None = None
        self._counts: list[int] = []
        self._means = _Means()

    def add(self, batch: Batch) -> None:
        """Add paragraphs; raises KnowledgeBaseError if an id or a text is there already."""
        self._store.add(batch.paragraphs)
        batch.vectors.tofile(self._rows)
        self._means.add(batch)
        self._counts += batch.counts
        for paragraph in batch.paragraphs:
            self._words.add(" ".join((paragraph.text, *paragraph.answers)), paragraph.language)
        if batch.weights is not None:
            self._sparse = self._sparse or SparseWriter(self._folder)
            for weights in batch.weights:
                self._sparse.add(weights)

    def finish(self, centre: Centre | None = None) -> Centre:
        """Write the indexes around `centre`, by default the batches' own, and return that centre."""
        self.close()
        centre = centre or self._means.centre()
        owners: Numbers = np.repeat(np.arange(len(self._counts), dtype=np.int32), self._counts)
        rows = np.memmap(self._folder / ROWS, np.float16, "r").reshape(len(owners), -1)
        VectorIndex.write(self._folder, rows, owners, centre)
        self._words.finish()
        if self._sparse:
            self._sparse.finish()
        return centre

    def close(self) -> None:
        """Close the files; safe to call twice."""
        self._rows.close()
        self._store.close()

    @property
    def size(self) -> int:
        """Return how many paragraphs were added."""
        return len(self._counts)


class Segment:
    """An opened segment: store, vectors, words, and weighted tokens if the embedder weighs them."""

    def __init__(self, folder: Path, centre: Centre) -> None:
        self.store = ParagraphStore.open(folder)
        self.count = self.store.count()
        self.vectors = VectorIndex.load(folder, centre)
        self.words = WordIndex.load(folder)
        self.sparse = SparseIndex.load(folder) if (folder / SPARSE).is_dir() else None


class _Means:
    def __init__(self) -> None:
        self._sums: dict[bool, Vectors] = {}
        self._counts = {False: 0, True: 0}

    def add(self, batch: Batch) -> None:
        first = np.cumsum([0, *batch.counts[:-1]])
        claims = np.ones(len(batch.vectors), np.bool_)
        claims[first] = False
        for kind in (False, True):
            rows = batch.vectors[claims == kind].astype(np.float32)
            self._sums[kind] = self._sums.get(kind, np.zeros(batch.vectors.shape[1], np.float32)) + rows.sum(axis=0)
            self._counts[kind] += len(rows)

    def centre(self) -> Centre:
        """Return the means; the claims' mean serves for queries, or the texts' mean if there are no claims."""
        texts, claims = ((self._sums[kind] / (self._counts[kind] + PRIOR)).astype(np.float32) for kind in (False, True))
        return Centre(claims if self._counts[True] else texts, texts)
