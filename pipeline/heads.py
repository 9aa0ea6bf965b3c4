"""Read a post's embedding: whom it attacks, how hateful it is, whether it is counterspeech itself.

Linear heads over query embeddings, trained by `training.heads`; data, figures and limits in `data/heads.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from core.domain import GroupScore, TargetGroup
from core.errors import BadInput

HATE, COUNTER = "hate", "counterspeech"
NAMES = (*(group.value for group in TargetGroup), HATE, COUNTER)
HATE_IS_HIGH = 0.5
"""Hate probability from which a post counts as an attack on somebody, even if no group reaches the threshold."""


@dataclass(frozen=True)
class Scores:
    """What the heads say, each a probability from 0 to 1."""

    groups: Mapping[TargetGroup, float]
    hate: float
    counter: float

    def attacked(self, threshold: float) -> tuple[GroupScore, ...]:
        """Return the groups from `threshold` on, surest first; of a clearly hateful post at least the likeliest."""
        ranked = sorted(self.groups, key=lambda group: -self.groups[group])
        passing = [group for group in ranked if self.groups[group] >= threshold]
        if not passing and self.hate >= HATE_IS_HIGH:
            passing = ranked[:1]
        return tuple(GroupScore(group=group, score=round(self.groups[group], 4)) for group in passing)


@dataclass(frozen=True)
class Heads:
    """One logistic regression for each of NAMES: `weights` has shape (10, d), `bias` (10,).

    They fit the vectors of one embedder only, the one called `embedder`.
    """

    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    embedder: str

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """Load the shipped heads, or those at `path`."""
        file_path = path or resources.files("pipeline").joinpath("data/heads.npz")
        with file_path.open("rb") as file, np.load(file, allow_pickle=False) as data:
            return cls(data["weights"].astype(np.float32), data["bias"].astype(np.float32), str(data["embedder"]))

    def probabilities(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return probabilities of shape (n, 10), in the order of NAMES, for vectors of shape (n, d)."""
        logits = np.clip(vectors @ self.weights.T + self.bias, -30, 30)
        return np.asarray(1 / (1 + np.exp(-logits)), np.float32)

    def score(self, vector: NDArray[np.float32]) -> Scores:
        """Score one embedding of shape (d,); raises BadInput for another shape."""
        if vector.shape != self.weights.shape[1:]:
            raise BadInput(f"The heads read {self.weights.shape[1]} numbers, not an embedding of shape {vector.shape}.")
        values = dict(zip(NAMES, map(float, self.probabilities(vector[np.newaxis])[0]), strict=True))
        return Scores({group: values[group.value] for group in TargetGroup}, values[HATE], values[COUNTER])
