"""Find paragraphs by meaning: a flat FAISS index of unit vectors, several of them a paragraph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rejoinder.errors import KnowledgeBaseError

FILE = "vectors.faiss"
OWNERS = "owners.npy"

Vectors = NDArray[np.float32]
Numbers = NDArray[np.int64]


class VectorIndex:
    """Hold vectors, each owned by a paragraph number. Owners ascend, so a paragraph's vectors lie side by side.

    Searching is safe from many threads.
    """

    def __init__(self, index: Any, owners: Numbers) -> None:
        self._index = index
        self._owners = owners
        self._most = int(np.bincount(owners).max(initial=1))

    @classmethod
    def build(cls, vectors: Vectors, owners: Numbers) -> VectorIndex:
        """Index vectors of shape (n, dimension); raises KnowledgeBaseError for unusable ones."""
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if vectors.ndim != 2 or not np.isfinite(vectors).all() or not lengths.all():
            raise KnowledgeBaseError("The embedder gave vectors that are empty or not finite. Check the embedding "
                                     "model.")
        if len(owners) != len(vectors) or np.any(np.diff(owners) < 0):
            raise ValueError("owners must ascend and be as many as the vectors")
        index = _faiss().IndexFlatIP(vectors.shape[1])
        index.add(np.ascontiguousarray(vectors / lengths, dtype=np.float32))
        return cls(index, owners.astype(np.int64))

    @classmethod
    def load(cls, folder: Path) -> VectorIndex:
        """Read an index; raises KnowledgeBaseError when it is missing, torn or contradicts itself."""
        try:
            index = _faiss().read_index(str(folder / FILE))
            owners = np.load(folder / OWNERS, allow_pickle=False)
        except (OSError, RuntimeError, ValueError, EOFError) as error:
            raise KnowledgeBaseError(f"The vector index in {folder} can't be read: {str(error).strip()[-200:]}. Build "
                                     "the knowledge base again.") from error
        if index.ntotal != len(owners):
            raise KnowledgeBaseError(f"The vector index in {folder} has {index.ntotal} vectors and {len(owners)} "
                                     "owners. Build the knowledge base again.")
        return cls(index, owners)

    def save(self, folder: Path) -> None:
        """Write the index into a folder."""
        _faiss().write_index(self._index, str(folder / FILE))
        np.save(folder / OWNERS, self._owners)

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        return int(self._index.d)

    @property
    def count(self) -> int:
        """Return how many vectors there are."""
        return int(self._index.ntotal)

    def search(self, vector: Vectors, depth: int, allowed: NDArray[np.bool_] | None = None) -> list[int]:
        """Return up to `depth` paragraph numbers, nearest first; `allowed` says for each number whether it may come.

        A paragraph counts by its nearest vector.
        """
        faiss = _faiss()
        chosen = None if allowed is None else np.packbits(allowed[self._owners], bitorder="little")
        parameters = None if chosen is None else faiss.SearchParameters(sel=faiss.IDSelectorBitmap(chosen))
        _, places = self._index.search(vector.reshape(1, -1), min(depth * self._most, self.count), params=parameters)
        owners = self._owners[places[0][places[0] >= 0]]
        return list(dict.fromkeys(owners.tolist()))[:depth]

    def cosine(self, vector: Vectors, number: int) -> float:
        """Return the cosine of a unit vector with the nearest vector of a paragraph; -1 when it has none."""
        first, end = np.searchsorted(self._owners, (number, number + 1))
        if first == end:
            return -1.0
        return float((self._index.reconstruct_n(int(first), int(end - first)) @ vector).max())


def _faiss() -> Any:
    """Import faiss on first use, with one thread: searches are short, and the cores belong to the models."""
    import faiss

    faiss.omp_set_num_threads(1)
    return faiss
