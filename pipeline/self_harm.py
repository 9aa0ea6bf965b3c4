"""Estimate how likely the author of a post, or somebody near, may harm themselves, where no plain word says so.

A logistic regression over the post's embedding, trained by `rejoinder train self-harm`; figures and limits are in
`data/self_harm.md`. What is said in plain words is found by the patterns of `pipeline.routing_rules`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from math import exp
from pathlib import Path
from typing import Self

import numpy as np

from core.errors import BadInput
from models.arrays import open_arrays
from models.embed import Vectors


@dataclass(frozen=True)
class SelfHarmHead:
    """Weights of shape (d,) for the query embeddings of one embedder."""

    weights: Vectors
    bias: float
    embedder: str

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """Load the shipped head, or the one at `path`; raises WeightsError for a file that is missing or damaged."""
        file_path = path or resources.files("pipeline").joinpath("data/self_harm.npz")
        with open_arrays(file_path, "The head of self-harm") as data:
            return cls(data["weights"].astype(np.float32), float(data["bias"]), str(data["embedder"]))

    def score(self, embedding: Vectors) -> float:
        """Return the probability, 0 to 1, for a post's query embedding; raises BadInput for one of another shape."""
        if embedding.shape != self.weights.shape:
            raise BadInput(
                f"The head of self-harm reads {len(self.weights)} numbers, not a shape of {embedding.shape}."
            )
        return 1.0 / (1.0 + exp(-max(min(self.bias + float(self.weights @ embedding), 60.0), -60.0)))
