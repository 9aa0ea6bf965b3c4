"""Embed with a sentence-transformers model (SBERT: Reimers and Gurevych, EMNLP 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.domain import clean
from models.embed import Vectors
from models.torch_model import TorchModel, label

MODEL = "sentence-transformers/paraphrase-multilingual-mpnet-base-v2"
BATCH = 32


class SbertEmbedder:
    """An Embedder; `model` is a folder or a name on the hub. Queries and passages are embedded the same way."""

    def __init__(self, model: str = MODEL) -> None:
        self.name = label("sbert", model)
        self._dimension = 0
        self._model = TorchModel[Any](self.name, "sentence_transformers", lambda: _load(model))

    @property
    def dimension(self) -> int:
        """Return the length of a vector; 0 before the first text."""
        return self._dimension

    async def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that search."""
        return await self._embed(texts)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that are searched; anything beyond the model's window is cut."""
        return await self._embed(texts)

    async def close(self) -> None:
        """End the thread."""
        self._model.close()

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        plain = [clean(text) for text in texts]
        if not plain:
            return np.empty((0, self._dimension), np.float32)
        rows = await self._model.use(
            lambda model: model.encode(
                plain, batch_size=BATCH, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
            )
        )
        vectors: Vectors = np.asarray(rows, np.float32)
        self._dimension = vectors.shape[1]
        return vectors


def _load(model: str) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(model)
