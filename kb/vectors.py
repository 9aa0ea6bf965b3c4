"""Find paragraphs by meaning: a FAISS index of the vectors of each paragraph's text and of the claims it answers.

Two things raise the hit rate above that of plain cosines. *Claims* are embedded as queries, since they are worded like
posts; texts are embedded as passages. And both spaces are *centred*: vectors of the E5 family share one large direction
("a sentence"), which hides their differences, so the mean is subtracted before they are compared (Mu and Viswanath,
"All-but-the-Top", ICLR 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import KnowledgeBaseError
from kb.query import Hit, Mask, Query, Vectors
from kb.versions import BUILD_AGAIN

FILE = "vectors.faiss"
ROWS = "vectors.f16"
OWNERS = "owners.npy"
FLAT_BELOW = 50_000
GRAPH_BELOW = 200_000
"""Vectors below which the index is flat (exact) or a graph (HNSW); from there on it is lists with codes (IVF-PQ)."""
EF_SEARCH = 128
PROBED = 64
SPARE = 4
"""How many times the requested vectors are taken from an inexact index, to be compared exactly."""
LEAST = 400
"""Fewest vectors that are compared exactly."""
TEXT_WEIGHT = 0.25
"""Weight of the text beside the nearest of text and claims; tuned on the dev half of the labelled posts."""
SUBJECT_ALONE = 0.07
"""Malus for a paragraph that names no claim it answers: nearness to its text shows only the same subject.

Tuned on the dev half, with the starter statements among the paragraphs of 61 documents.
"""
CODE_BITS = 8
"""Bits per code in an IVF-PQ index, which has a code for every eight dimensions."""
TRAIN_MOST = 100_000
PORTION = 65_536

Halves = NDArray[np.float16]
Numbers = NDArray[np.int32]


@dataclass(frozen=True)
class Centre:
    """The means that are subtracted: that of texts embedded as queries, and that of texts embedded as passages."""

    query: Vectors
    passage: Vectors

    def of_query(self, vector: Vectors) -> Vectors:
        """Return a query's centred unit vector."""
        return _units((vector - self.query)[None]).reshape(-1)

    def of_rows(self, rows: Vectors, are_claims: Mask) -> Vectors:
        """Return centred unit vectors of texts and claims."""
        return _units(rows - np.where(are_claims[:, None], self.query, self.passage))


class VectorIndex:
    """Vectors, each owned by a paragraph number. Owners ascend; an owner's first vector is that of its text.

    Searching is safe from many threads. Scores are comparable within a knowledge base, and at most 1.
    """

    def __init__(self, index: Any, rows: Halves, owners: Numbers, centre: Centre) -> None:
        self._index, self._rows, self._owners, self._centre = index, rows, owners, centre
        self._most = int(np.bincount(owners).max(initial=1))
        self._one_each = self._most == 1 and len(owners) > 0 and int(owners[-1]) == len(owners) - 1

    @classmethod
    def write(cls, folder: Path, rows: Halves, owners: Numbers, centre: Centre) -> None:
        """Index the rows, unit vectors of shape (n, dimension) that are already in ROWS; memory is bounded."""
        np.save(folder / OWNERS, owners)
        faiss = _faiss()
        index = _empty_index(rows.shape[1], len(rows))
        claims = _claims(owners)
        if not index.is_trained:
            chosen = np.sort(np.random.default_rng(0).permutation(len(rows))[:TRAIN_MOST])
            index.train(centre.of_rows(rows[chosen].astype(np.float32), claims[chosen]))
        for start in range(0, len(rows), PORTION):
            part = slice(start, start + PORTION)
            index.add(centre.of_rows(rows[part].astype(np.float32), claims[part]))
        faiss.write_index(index, str(folder / FILE))

    @classmethod
    def load(cls, folder: Path, centre: Centre) -> VectorIndex:
        """Map an index; raises KnowledgeBaseError if it is missing, damaged or inconsistent."""
        faiss = _faiss()
        try:
            index = faiss.read_index(str(folder / FILE), faiss.IO_FLAG_MMAP_IFC | faiss.IO_FLAG_READ_ONLY)
            owners = np.load(folder / OWNERS, mmap_mode="r", allow_pickle=False)
            rows = np.memmap(folder / ROWS, np.float16, "r").reshape(-1, index.d)
        except (OSError, RuntimeError, ValueError, EOFError) as error:
            raise KnowledgeBaseError(
                f"The vector index in {folder} can't be read: {str(error).strip()[-200:]}. {BUILD_AGAIN}"
            ) from error
        if not index.ntotal == len(owners) == len(rows):
            raise KnowledgeBaseError(
                f"The vector index in {folder} has {index.ntotal} vectors, {len(rows)} rows and "
                f"{len(owners)} owners. {BUILD_AGAIN}"
            )
        return cls(index, rows, owners, centre)

    @property
    def kind(self) -> str:
        """Return the name of the FAISS index."""
        return str(type(self._index).__name__)

    def retrieve(self, query: Query, depth: int, allowed: Mask | None = None) -> list[Hit]:
        """Return up to `depth` paragraphs, best first: by their nearest vector and, with less weight, their text's."""
        if query.vector is None:
            return []
        unit = self._centre.of_query(query.vector)
        numbers = self._nearest(unit, depth, allowed)
        if not len(numbers):
            return []
        rows, first = self._rows_of(numbers)
        cosines = self._centre.of_rows(self._rows[rows].astype(np.float32), _repeated(first, len(rows))) @ unit
        scores = (np.maximum.reduceat(cosines, first) + TEXT_WEIGHT * cosines[first]) / (1 + TEXT_WEIGHT)
        scores -= SUBJECT_ALONE * (np.diff(first, append=len(rows)) == 1)
        order = np.argsort(-scores, kind="stable")[:depth]
        return [Hit(int(numbers[place]), float(scores[place])) for place in order]

    def cosines(self, vector: Vectors, numbers: NDArray[np.int64]) -> Vectors:
        """Return the plain cosine of a unit vector with each paragraph's nearest vector; -1 if it has none."""
        rows, first = self._rows_of(numbers)
        if not len(rows):
            return np.full(len(numbers), -1.0, np.float32)
        cosines: Vectors = np.maximum.reduceat(_units(self._rows[rows].astype(np.float32)) @ vector, first)
        return np.clip(cosines, -1.0, 1.0)

    def text_vectors(self, numbers: NDArray[np.int64]) -> Vectors:
        """Return the centred unit vectors of these paragraphs' texts."""
        rows = np.searchsorted(self._owners, numbers.astype(self._owners.dtype))
        return self._centre.of_rows(self._rows[rows].astype(np.float32), np.zeros(len(rows), np.bool_))

    def rows_of(self, numbers: NDArray[np.int64]) -> Halves:
        """Return the plain unit vectors of these paragraphs, each paragraph's text first, then its claims."""
        rows, _ = self._rows_of(numbers)
        return np.asarray(self._rows[rows])

    def _nearest(self, unit: Vectors, depth: int, allowed: Mask | None) -> NDArray[np.int64]:
        """Return the numbers of about `depth` nearest paragraphs; exact with a flat index."""
        faiss = _faiss()
        selector = None
        if allowed is not None:
            chosen = allowed if self._one_each else allowed[self._owners]
            selector = faiss.IDSelectorBitmap(np.packbits(chosen, bitorder="little"))
        exact, parameters = _parameters(self._index, selector)
        count = min(depth * self._most if exact else max(depth * self._most * SPARE, LEAST), len(self._owners))
        _, places = self._index.search(unit.reshape(1, -1), count, params=parameters)
        owners = self._owners[places[0][places[0] >= 0]]
        return np.array(list(dict.fromkeys(owners.tolist())), np.int64)

    def _rows_of(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions of these paragraphs' vectors, and where in that list each paragraph begins."""
        owners = numbers.astype(self._owners.dtype)  # with another type, searchsorted would convert all the owners
        starts, ends = np.searchsorted(self._owners, owners), np.searchsorted(self._owners, owners, side="right")
        counts = ends - starts
        first = np.cumsum(counts) - counts
        return np.arange(counts.sum()) + np.repeat(starts - first, counts), first


def normalised(vectors: Vectors, dimension: int | None = None) -> Halves:
    """Return vectors with length 1 in half precision; raises KnowledgeBaseError for unusable ones."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    if vectors.ndim != 2 or not np.isfinite(vectors).all() or not lengths.all():
        raise KnowledgeBaseError("The embedder gave vectors that are empty or not finite. Check the embedding model.")
    if dimension not in (None, vectors.shape[1]):
        raise KnowledgeBaseError(
            f"The embedder gave vectors of length {vectors.shape[1]} after some of length "
            f"{dimension}. Check the embedding model."
        )
    halves: Halves = (vectors / lengths).astype(np.float16)
    return halves


def kind_for(vectors: int) -> str:
    """Return the kind of index for this many vectors, in the terms of FAISS's index factory without its sizes."""
    return "Flat" if vectors < FLAT_BELOW else "HNSW" if vectors < GRAPH_BELOW else "IVF-PQ"


def _empty_index(dimension: int, vectors: int) -> Any:
    lists = max(1, int(2 * vectors**0.5))
    pieces = next(n for n in (dimension // 8, dimension // 2, dimension) if n and dimension % n == 0)
    # `np` means no polysemous training, which takes minutes and is for a search that we don't use.
    codes = f"IVF{lists},PQ{pieces}x{CODE_BITS}np"
    factory = {"Flat": "Flat", "HNSW": "HNSW32_SQ8", "IVF-PQ": codes}[kind_for(vectors)]
    faiss = _faiss()
    index = faiss.index_factory(dimension, factory, faiss.METRIC_INNER_PRODUCT)
    if factory.startswith("IVF"):
        index.cp.niter = index.pq.cp.niter = 10
        index.pq.cp.max_points_per_centroid = 64
        index.cp.min_points_per_centroid = index.pq.cp.min_points_per_centroid = 1
    return index


def _parameters(index: Any, selector: Any) -> tuple[bool, Any]:
    """Return whether a search is exact, and its parameters."""
    faiss = _faiss()
    if isinstance(index, faiss.IndexIVF):
        return False, faiss.SearchParametersIVF(sel=selector, nprobe=PROBED)
    if isinstance(index, faiss.IndexHNSW):
        return False, faiss.SearchParametersHNSW(sel=selector, efSearch=EF_SEARCH)
    return True, faiss.SearchParameters(sel=selector) if selector is not None else None


def _claims(owners: Numbers) -> Mask:
    """Return which vectors are claims': all but the first of each owner."""
    is_claim: Mask = np.zeros(len(owners), np.bool_)
    is_claim[1:] = owners[1:] == owners[:-1]
    return is_claim


def _repeated(first: NDArray[np.int64], count: int) -> Mask:
    claims: Mask = np.ones(count, np.bool_)
    claims[first] = False
    return claims


def _units(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units: Vectors = np.ascontiguousarray(vectors / np.where(lengths == 0, 1, lengths), np.float32)
    return units


def _faiss() -> Any:
    """Import faiss on first use, with one thread: searches are short, and the cores belong to the models."""
    import faiss

    faiss.omp_set_num_threads(1)
    return faiss
