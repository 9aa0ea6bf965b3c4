"""Read a sentence beside its post or evidence with a model nine times as large as the embedder, in English.

The model is all-mpnet-base-v2, whose weights are fetched (`models.mpnet`). `rejoinder train pair-reader` writes the
adapters; data, figures and limits are in `pipeline/data/pair_reader.md`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path
from typing import Self

import numpy as np

from core.errors import WeightsError
from models.arrays import open_arrays
from models.cpu import usable_cores
from models.e5 import PAIR_QUESTIONS
from models.embed import Vectors
from models.mpnet import Mpnet

log = logging.getLogger(__name__)

FILE = "pair_reader.npz"
LANGUAGES = frozenset({"en"})
"""The languages that the model reads (ISO 639-1)."""
OWN = ("weights", "bias")
"""The arrays of the file that are no adapters."""


class PairReader:
    """The model with its adapters, and a linear head for each of PAIR_QUESTIONS. Safe for many tasks."""

    def __init__(self, model: Mpnet, weights: Vectors, bias: Vectors) -> None:
        """Take the heads' `weights`, shape (questions, 2 * width), and `bias`, shape (questions,)."""
        self._model, self._weights, self._bias = model, weights, bias
        self._threads = ThreadPoolExecutor(usable_cores(), thread_name_prefix="pairs")

    @classmethod
    def load(cls, model_file: Path, path: Path | None = None) -> Self:
        """Load the fetched model with the shipped adapters, or those at `path`; takes five seconds.

        Raises WeightsError for a file that is missing or damaged.
        """
        file_path = path or resources.files("pipeline").joinpath("data", FILE)
        with open_arrays(file_path, "The reader of pairs") as data:
            arrays = {name: data[name].astype(np.float32) for name in {*data.files, *OWN}}
        weights, bias = (arrays.pop(name) for name in OWN)
        return cls(Mpnet(model_file, arrays), weights, bias)

    async def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Return the log odds of PAIR_QUESTIONS for each pair, shape (pairs, questions); NaN for one too long."""
        loop = asyncio.get_running_loop()
        rows = await asyncio.gather(*(loop.run_in_executor(self._threads, self._read, *pair) for pair in pairs))
        return np.array(rows, np.float32).reshape(-1, len(PAIR_QUESTIONS))

    async def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _read(self, first: str, second: str) -> Vectors:
        pooled = self._model.pooled_pair(first, second)
        if pooled is None:
            return np.full(len(PAIR_QUESTIONS), np.nan, np.float32)
        return np.asarray(self._weights @ pooled + self._bias, np.float32)


class LatePairReader:
    """A PairReader that is loaded with the first pair: where words on file are all that is shown, it never is.

    If its file is damaged, it reads nothing, and the log says why once: a draft must not fail for a second opinion.
    """

    def __init__(self, load: Callable[[], PairReader]) -> None:
        self._load = load
        self._loaded: PairReader | None = None
        self._is_damaged = False
        self._turn = asyncio.Lock()

    async def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Return what `PairReader.read_pairs` does, and NaN for every pair if the model can't be loaded."""
        async with self._turn:
            if self._loaded is None and not self._is_damaged:
                try:
                    self._loaded = await asyncio.to_thread(self._load)
                except WeightsError as error:
                    log.error("Models' drafts are read by the small models alone: %s", error)
                    self._is_damaged = True
        if self._loaded is None:
            return np.full((len(pairs), len(PAIR_QUESTIONS)), np.nan, np.float32)
        return await self._loaded.read_pairs(pairs)

    async def close(self) -> None:
        """Free the model, where one was loaded."""
        if self._loaded is not None:
            await self._loaded.close()
