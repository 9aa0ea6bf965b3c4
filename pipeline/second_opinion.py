"""A second opinion on a post: by the embedder's layers that are tuned for posts (`models.e5_tuned`), or a larger model.

Beside it counts what was made of the post before, such as by the heads. `rejoinder train post-layers` and `post-reader`
write the weights; data, figures and limits are in `models/data/e5_posts.md` and `data/post_reader.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from math import exp
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from models.arrays import open_arrays

Numbers = NDArray[np.float32]

NEARLY = 1e-6
"""Least distance of a probability from 0 and 1; nearer ones are clipped, so that their log odds are finite."""
THREAT = "threat"
PARTS = ("layers", "names", "weights", "bias", "shares")
"""The arrays of an opinion in a file."""


@dataclass(frozen=True)
class SecondOpinion:
    """Linear heads by name over a post's reading of m numbers, and how each is weighed against the first opinion.

    `weights` has shape (n, m), `bias` (n,), `shares` (n, 3): the weight of the first opinion's log odds, that of the
    second's, and a constant. `layers` names the layers that the heads were trained on; readings of other layers don't
    fit.
    """

    layers: str
    names: tuple[str, ...]
    weights: Numbers
    bias: Numbers
    shares: Numbers

    @classmethod
    def load(cls, path: Traversable | None = None) -> Self:
        """Load the shipped weights, or those at `path`; raises WeightsError for a file that is missing or damaged."""
        file_path = path or resources.files("pipeline").joinpath("data/second_opinion.npz")
        with open_arrays(file_path, "The second opinion on posts") as data:
            return cls.of({name: data[name] for name in PARTS})

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the opinion that a file's arrays hold, those named in PARTS."""
        layers, names, *numbers = (arrays[name] for name in PARTS)
        return cls(str(layers), tuple(names.tolist()), *(each.astype(np.float32) for each in numbers))

    @property
    def length(self) -> int:
        """Return how many numbers the reading of a post has."""
        return int(self.weights.shape[1])

    def beside(self, first: Mapping[str, float], reading: Numbers) -> dict[str, float]:
        """Return the first opinion's probabilities joined with the second opinion on a post's reading, shape (m,)."""
        logits = dict(zip(self.names, self.weights @ reading + self.bias, strict=True))
        shares = dict(zip(self.names, self.shares, strict=True))
        return {
            name: joint(probability, float(logits[name]), *map(float, shares[name])) if name in shares else probability
            for name, probability in first.items()
        }


def joint(first: float, second: float, of_first: float, of_second: float, constant: float) -> float:
    """Return the probability by two opinions: the first's probability and the second's log odds, weighed."""
    logit = of_first * float(log_odds(first)) + of_second * second + constant
    return 1 / (1 + exp(-min(max(logit, -60.0), 60.0)))


def log_odds(probabilities: NDArray[np.floating[Any]] | float) -> NDArray[np.float64]:
    """Return the log odds of probabilities, which are kept NEARLY away from 0 and 1."""
    kept = np.clip(probabilities, NEARLY, 1 - NEARLY)
    return np.asarray(np.log(kept / (1 - kept)), np.float64)
