"""Sentence vectors shared by several metrics, so that each text is embedded once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from models.embed import Embedder, Vectors

MOST_KEPT = 5_000


class Embeddings:
    """An embedder's query vectors, with a cache of the latest texts."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._known: OrderedDict[str, Vectors] = OrderedDict()

    async def of(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts, shape (texts, d), each normalised to length 1."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        fresh = dict(zip(unknown, await self._embedder.queries(unknown), strict=True))
        vectors = [fresh[text] if text in fresh else self._known[text] for text in texts]
        self._known.update(fresh)
        while len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)
        return np.stack(vectors) if vectors else np.empty((0, self._embedder.dimension), np.float32)
