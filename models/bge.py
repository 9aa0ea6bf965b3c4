"""Embed and rerank with the BGE models through FlagEmbedding (Chen et al., "M3-Embedding", 2024)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from core.domain import clean
from models.embed import Vectors
from models.torch_model import TorchModel, label

EMBEDDER = "BAAI/bge-m3"
RERANKER = "BAAI/bge-reranker-v2-m3"
BATCH = 16
LONGEST = 512
"""Most tokens of a text that are read."""


class BgeM3Embedder:
    """An Embedder that also weighs words; `model` is a folder or a name on the hub."""

    def __init__(self, model: str = EMBEDDER) -> None:
        self.name = label("bge-m3", model)
        self._dimension = 0
        self._model = TorchModel[Any](self.name, "FlagEmbedding", lambda: _load_embedder(model))

    @property
    def dimension(self) -> int:
        """Return the length of a vector; 0 before the first text."""
        return self._dimension

    async def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that search; the model takes no prefix."""
        return await self.passages(texts)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that are searched; anything beyond LONGEST tokens is cut."""
        if not texts:
            return np.empty((0, self._dimension), np.float32)
        vectors: Vectors = np.asarray(await self._encode(texts, "dense_vecs"), np.float32)
        self._dimension = vectors.shape[1]
        return vectors

    async def token_weights(self, texts: Sequence[str]) -> list[Mapping[int, float]]:
        """Return for each text its tokens, as numbers in the model's vocabulary, with their learned weights."""
        weights = await self._encode(texts, "lexical_weights") if texts else []
        return [{int(token): float(weight) for token, weight in tokens.items()} for tokens in weights]

    async def close(self) -> None:
        """End the thread."""
        self._model.close()

    async def _encode(self, texts: Sequence[str], part: Literal["dense_vecs", "lexical_weights"]) -> Any:
        plain = [clean(text) for text in texts]
        return (
            await self._model.use(
                lambda model: model.encode(
                    plain,
                    batch_size=BATCH,
                    max_length=LONGEST,
                    return_dense=part == "dense_vecs",
                    return_sparse=part == "lexical_weights",
                    return_colbert_vecs=False,
                )
            )
        )[part]


class BgeReranker:
    """A kb.rerank.Scorer that uses a cross-encoder, which reads query and text together."""

    def __init__(self, model: str = RERANKER) -> None:
        self.name = label("bge-reranker", model)
        self._model = TorchModel[Any](self.name, "FlagEmbedding", lambda: _load_reranker(model))

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, between 0 and 1."""
        pairs = [(clean(query), clean(text)) for text in texts]
        if not pairs:
            return []
        scores = await self._model.use(
            lambda model: model.compute_score(pairs, batch_size=BATCH, max_length=LONGEST, normalize=True)
        )
        return [float(score) for score in np.atleast_1d(scores)]

    async def close(self) -> None:
        """End the thread."""
        self._model.close()


def _load_embedder(model: str) -> Any:
    from FlagEmbedding import BGEM3FlagModel

    return BGEM3FlagModel(model, use_fp16=False)


def _load_reranker(model: str) -> Any:
    from FlagEmbedding import FlagReranker

    return FlagReranker(model, use_fp16=False)
