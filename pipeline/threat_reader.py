"""Read English posts that may be threats once more, with a model nine times as large as the embedder.

The first opinion is what triage makes of a post without it (`pipeline.threats`, `pipeline.second_opinion`). The model
takes about 20 ms of a core for a post, so it only reads those of which the first opinion does not exclude a threat.
`rejoinder train threat-reader` writes the adapters; data, figures and limits are in `data/threat_reader.md`.
"""

from __future__ import annotations

import asyncio
from importlib import resources
from pathlib import Path
from typing import Self

import numpy as np

from models.arrays import open_arrays
from models.embed import Vectors
from models.mpnet import Mpnet
from pipeline.second_opinion import joint

FILE = "threat_reader.npz"
LANGUAGES = frozenset({"en"})
"""The languages that the model reads (ISO 639-1)."""
REREAD_FROM = 0.01
"""First opinion from which a post is read again."""
OWN = ("weights", "bias", "shares")
"""The arrays of the file that are no adapters."""


class ThreatReader:
    """The model with its adapters, and how its opinion is weighed against the first. Safe for many tasks."""

    def __init__(self, model: Mpnet, weights: Vectors, bias: float, shares: Vectors) -> None:
        """Take the head's `weights`, shape (2 * width,), and `shares`: of both log odds, and a constant."""
        self._model, self._weights, self._bias = model, weights, bias
        self._of_first, self._of_second, self._constant = map(float, shares)

    @classmethod
    def load(cls, model_file: Path, path: Path | None = None) -> Self:
        """Load the fetched model with the shipped adapters, or those at `path`; takes five seconds.

        Raises WeightsError for a file that is missing or damaged.
        """
        file_path = path or resources.files("pipeline").joinpath("data", FILE)
        with open_arrays(file_path, "The reader of threats") as data:
            arrays = {name: data[name].astype(np.float32) for name in {*data.files, *OWN}}
        weights, bias, shares = (arrays.pop(name) for name in OWN)
        return cls(Mpnet(model_file, arrays), weights, float(bias), shares)

    async def reread(self, text: str, first: float, language: str) -> float:
        """Return the probability that a post threatens, given the first opinion; that itself if it is not read again.

        `text` is normalised. Of a long post, the window that most looks like a threat counts; what the model has not
        read to its end it can only make more likely to be one.
        """
        if language not in LANGUAGES or first < REREAD_FROM or not text:
            return first
        second, read_all = await asyncio.to_thread(self.log_odds, text)
        both = joint(first, second, self._of_first, self._of_second, self._constant)
        return both if read_all else max(first, both)

    def log_odds(self, text: str) -> tuple[float, bool]:
        """Return the log odds by the model alone, and whether it read all of the text."""
        windows, read_all = self._model.pooled(text)
        return float((windows @ self._weights).max()) + self._bias, read_all
