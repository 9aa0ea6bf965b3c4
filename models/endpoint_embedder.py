"""Embed texts with an OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from core.domain import clean
from core.errors import EmbedderUnavailable, ModelRefused, ModelUnavailable
from models.embed import Vectors
from models.endpoint import Endpoint

BATCH = 32
"""Texts sent in one request."""


class EndpointEmbedder:
    """An Embedder that asks an OpenAI-compatible server (`POST /v1/embeddings`)."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model
        self._dimension = 0
        # The E5 models were trained with these prefixes (Wang et al. 2022); servers don't add them.
        self._query_prefix, self._passage_prefix = ("query: ", "passage: ") if "e5" in model.lower() else ("", "")

    @property
    def name(self) -> str:
        """Return the kind and the model."""
        return f"endpoint/{self._model}"

    @property
    def dimension(self) -> int:
        """Return the length of a vector; 0 before the first answer."""
        return self._dimension

    async def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that search."""
        return await self._embed([self._query_prefix + clean(text) for text in texts])

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that are searched."""
        return await self._embed([self._passage_prefix + clean(text) for text in texts])

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def _embed(self, texts: list[str]) -> Vectors:
        portions = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        vectors = [await self._ask(portion) for portion in portions]
        return np.concatenate(vectors) if vectors else np.empty((0, self._dimension), np.float32)

    async def _ask(self, texts: list[str]) -> Vectors:
        # Some servers refuse an empty input, so a space is sent instead.
        inputs = [text or " " for text in texts]
        try:
            body = await self._post(inputs)
        except ModelUnavailable as error:
            if await self._answers():
                raise  # the server works, but fails on these texts or is too slow for them
            raise EmbedderUnavailable(str(error)) from error
        try:
            rows = sorted(body["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (KeyError, TypeError, ValueError):
            raise ModelRefused(
                f"The embedding server at {self._endpoint.name} answered without vectors. Check that embedding.model "
                "names an embedding model there."
            ) from None
        self._check(vectors, len(texts))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)

    async def _post(self, inputs: list[str]) -> dict[str, Any]:
        return await self._endpoint.post("embeddings", {"model": self._model, "input": inputs})

    async def _answers(self) -> bool:
        """Tell whether the server answers the smallest possible request."""
        try:
            with suppress(ModelRefused):
                await self._post(["a"])
        except ModelUnavailable:
            return False
        return True

    def _check(self, vectors: Vectors, expected: int) -> None:
        """Raise ModelRefused unless there is one finite vector per text, of the same length as before."""
        sound = vectors.ndim == 2 and len(vectors) == expected and bool(np.isfinite(vectors).all())
        if not sound or self._dimension not in (0, vectors.shape[1]):
            raise ModelRefused(
                f"The embedding server at {self._endpoint.name} answered {expected} texts with an array of shape "
                f"{vectors.shape}; expected one finite vector each. Check embedding.model."
            )
        self._dimension = vectors.shape[1]
