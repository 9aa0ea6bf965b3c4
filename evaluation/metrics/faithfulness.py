"""FC and FE: how close a draft is to the counter-claim that it should argue for, and to its evidence."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.embeddings import Embeddings
from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.records import Sample


def _card(name: str, label: str, formula: str) -> MetricCard:
    return MetricCard(
        name=name,
        label=label,
        source="F2RL (Wang et al. 2024), Eq. 4; its similarity is unnamed, here cosine of e5 sentence vectors",
        formula=formula,
        lowest=-1,
        highest=1,
        higher_is_better=True,
        blind_spot="Nearness of topic, not of opinion: e5 gives unrelated sentences about 0.75 and opposite ones "
        "nearly 0.9.",
    )


class _Nearness(Metric):
    """The mean cosine similarity of a draft to certain texts of its sample, which subclasses choose."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings

    @abstractmethod
    def _targets(self, sample: Sample) -> tuple[str, ...]:
        """Return the texts that the draft is compared with."""

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the mean cosine of each draft that has texts to be compared with."""
        compared = [sample for sample in samples if sample.text and self._targets(sample)]
        texts = list(dict.fromkeys(text for sample in compared for text in (sample.text, *self._targets(sample))))
        vectors = dict(zip(texts, await self._embeddings.of(texts), strict=True))
        return [self._mean(sample, vectors) if sample.text and self._targets(sample) else None for sample in samples]

    def _mean(self, sample: Sample, vectors: Mapping[str, NDArray[np.float32]]) -> float:
        return float(np.mean([vectors[sample.text] @ vectors[target] for target in self._targets(sample)]))


class FaithfulnessToClaim(_Nearness):
    """F2RL's FC: the cosine of a draft with the counter-claim."""

    card = _card("fc", "FC", "cos(draft, counter-claim)")

    def _targets(self, sample: Sample) -> tuple[str, ...]:
        return (sample.counter_claim,) if sample.counter_claim else ()


class FaithfulnessToEvidence(_Nearness):
    """F2RL's FE: the mean cosine of a draft with its pieces of evidence."""

    card = _card("fe", "FE", "mean over the pieces of evidence of cos(draft, evidence)")

    def _targets(self, sample: Sample) -> tuple[str, ...]:
        return tuple(item.text for item in sample.evidence)
