"""Argument quality: the share of people who would recommend a draft's argument, as estimated by a small head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.embeddings import Embeddings
from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.records import Sample
from models.arrays import open_arrays


@dataclass(frozen=True)
class QualityHead:
    """A linear regression over embeddings of d numbers; it fits only the vectors of the embedder named `embedder`."""

    weights: NDArray[np.float32]
    bias: float
    embedder: str

    @classmethod
    def load(cls) -> Self:
        """Load the shipped head; raises WeightsError if its file is missing or damaged."""
        path = resources.files("evaluation").joinpath("data/argument_quality.npz")
        with open_arrays(path, "The head for argument quality") as data:
            return cls(data["weights"], float(data["bias"]), str(data["embedder"]))

    def quality(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the quality of texts, 0 to 1, from their query vectors of shape (n, d)."""
        return np.asarray(np.clip(vectors @ self.weights + np.float32(self.bias), 0, 1), np.float32)


class ArgumentQuality(Metric):
    """The quality that the head predicts for a draft."""

    card = MetricCard(
        name="argument_quality",
        label="AQ",
        source="Gretz et al. 2020 (IBM ArgQ 30k), by a ridge regression on e5 vectors "
        "(evaluation/data/argument_quality.md)",
        formula="estimated share of people who would recommend the argument to a friend, whatever they think of it",
        lowest=0,
        highest=1,
        higher_is_better=True,
        blind_spot="Trained on English one-sentence arguments; length and correct spelling weigh much, truth nothing. "
        "In other languages it is carried over by the embedder alone.",
    )

    def __init__(self, embeddings: Embeddings, head: QualityHead) -> None:
        """Take the embedder that the head was trained with, and the head."""
        self._embeddings, self._head = embeddings, head

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the quality of each draft."""
        texts = [sample.text for sample in samples if sample.text]
        if not texts:
            return [None] * len(samples)
        values = iter(self._head.quality(await self._embeddings.of(texts)).tolist())
        return [float(next(values)) if sample.text else None for sample in samples]
