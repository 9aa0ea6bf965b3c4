"""Read English posts once more, with a model nine times as large as the embedder.

The first opinion is what triage makes of a post without it: the heads, and the layers for posts (`pipeline.heads`,
`pipeline.threats`, `pipeline.second_opinion`). The model takes about 12 ms of a core with AVX512 for a post, so posts
that the first opinion surely dismisses are left alone. `rejoinder train post-reader` writes the adapters; data, figures
and limits are in `data/post_reader.md`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Self

import numpy as np

from models.arrays import open_arrays
from models.embed import Vectors
from models.mpnet import Mpnet
from pipeline.normalise import spelled_out
from pipeline.second_opinion import PARTS, THREAT, SecondOpinion

FILE = "post_reader.npz"
LANGUAGES = frozenset({"en"})
"""The languages that the model reads (ISO 639-1)."""
REREAD_THREAT_FROM, REREAD_HATE_FROM = 0.01, 0.03
"""First opinions from which a post is read again: if either is reached."""
LONGEST = 4000
"""Characters of a post from which on nothing is read: the windows end before, but for the strangest texts."""
SUMMED = ("summed", "summed_bias")
"""The arrays of the file that make a reading of pooled states; beside them are adapters, and an opinion's PARTS."""


@dataclass(frozen=True)
class PostReading:
    """What the model makes of a post: `windows`, shape (windows, m), and whether it read all of the text."""

    windows: Vectors
    read_all: bool

    @property
    def whole(self) -> Vectors | None:
        """Return the reading, shape (m,), of a post that fits in one window; None for a longer one."""
        return self.windows[0] if self.read_all and len(self.windows) == 1 else None


class PostReader:
    """The model with its adapters, and its opinion beside the first. Safe for many tasks."""

    def __init__(self, model: Mpnet, summed: Vectors, bias: Vectors, opinion: SecondOpinion) -> None:
        """Take the map from pooled states to a reading, `summed` (m, 2 * width) and `bias` (m,)."""
        self._model, self._summed, self._bias = model, summed, bias
        self.opinion = opinion

    @classmethod
    def load(cls, model_file: Path, path: Path | None = None) -> Self:
        """Load the fetched model with the shipped adapters, or those at `path`; takes five seconds.

        Raises WeightsError for a file that is missing or damaged.
        """
        with open_arrays(path or _shipped(), "The reader of posts") as data:
            opinion = SecondOpinion.of({name: data[name] for name in PARTS})
            arrays = {name: data[name].astype(np.float32) for name in {*data.files, *SUMMED} - {*PARTS}}
        summed, bias = (arrays.pop(name) for name in SUMMED)
        return cls(Mpnet(model_file, arrays), summed, bias, opinion)

    async def read(self, text: str, hate: float, threat: float, language: str) -> PostReading | None:
        """Return what the model makes of a normalised post, given the first opinions; None if it is not read again."""
        if language not in LANGUAGES or not text or (hate < REREAD_HATE_FROM and threat < REREAD_THREAT_FROM):
            return None
        return await asyncio.to_thread(self.read_now, text)

    def read_now(self, text: str) -> PostReading:
        """Return what the model makes of a normalised text, whatever its language."""
        pooled, read_all = self._model.pooled(spelled_out(text[:LONGEST]))
        return PostReading(pooled @ self._summed.T + self._bias, read_all and len(text) <= LONGEST)

    def threat(self, first: float, reading: PostReading) -> float:
        """Return the probability that a post threatens, given the first opinion.

        The window most like a threat counts; what the model has not read to its end it can only make likelier to be
        one.
        """
        both = max(self.opinion.beside({THREAT: first}, window)[THREAT] for window in reading.windows)
        return both if reading.read_all else max(first, both)


def opinion_on_readings() -> SecondOpinion:
    """Return the shipped opinion on readings; raises WeightsError if its file can't be read."""
    return SecondOpinion.load(_shipped())


def _shipped() -> Traversable:
    return resources.files("pipeline").joinpath("data", FILE)
