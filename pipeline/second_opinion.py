"""A second opinion on a post, by the layers of the embedder that are tuned for posts (`models.e5_posts`).

The first one is what the heads say of its embedding and its words. `rejoinder train post-layers` writes the weights;
data, figures and limits in `models/data/e5_posts.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from math import exp, log
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from models.arrays import open_arrays

Numbers = NDArray[np.float32]

NEARLY = 1e-6
"""How near to 0 and 1 a probability counts."""
THREAT = "threat"


@dataclass(frozen=True)
class SecondOpinion:
    """Linear heads by name over a post's reading of m numbers, and what they count beside the first opinion.

    `weights` has shape (n, m), `bias` (n,), `shares` (n, 3): what the first opinion's log odds count, what the second's
    do, and a constant. `layers` names the layers whose readings they learned: those of others mean something else.
    """

    layers: str
    names: tuple[str, ...]
    weights: Numbers
    bias: Numbers
    shares: Numbers

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """Load the shipped weights, or those at `path`; raises WeightsError for a file that is missing or torn."""
        file_path = path or resources.files("pipeline").joinpath("data/second_opinion.npz")
        with open_arrays(file_path, "The second opinion on posts") as data:
            arrays = (data[name].astype(np.float32) for name in ("weights", "bias", "shares"))
            return cls(str(data["layers"]), tuple(data["names"].tolist()), *arrays)

    @property
    def length(self) -> int:
        """How many numbers the reading of a post has."""
        return int(self.weights.shape[1])

    def beside(self, first: Mapping[str, float], reading: Numbers) -> dict[str, float]:
        """Return the probabilities of the first opinion as they are with the second, of a post read as shape (m,)."""
        logits = dict(zip(self.names, self.weights @ reading + self.bias, strict=True))
        shares = dict(zip(self.names, self.shares, strict=True))
        return {
            name: _joint(probability, float(logits[name]), *map(float, shares[name])) if name in shares else probability
            for name, probability in first.items()
        }


def _joint(first: float, second: float, of_first: float, of_second: float, constant: float) -> float:
    before = min(max(first, NEARLY), 1 - NEARLY)
    logit = of_first * log(before / (1 - before)) + of_second * second + constant
    return 1 / (1 + exp(-min(max(logit, -60.0), 60.0)))
