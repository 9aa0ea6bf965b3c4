"""Counterspeech: whether a draft reads like a reply to hate rather than like hate itself."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.metrics.embeddings import Embeddings
from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.records import Sample
from pipeline.heads import COUNTER, Heads


class Counterspeech(Metric):
    """The probability of counterspeech that triage's head assigns to a draft."""

    card = MetricCard(
        name="counterspeech",
        label="Counterspeech",
        source="ours: a head trained on CrowdCounter's replies against posts (pipeline/data/counterspeech_head.md)",
        formula="P(counterspeech | draft)",
        lowest=0,
        highest=1,
        higher_is_better=True,
        blind_spot="It sees the draft alone: a fine reply to another post scores as high. Texts on file were among its "
        "training data, so that `compose` has an advantage.",
    )

    def __init__(self, embeddings: Embeddings, heads: Heads) -> None:
        """Take the embedder that the heads were trained with, and the heads."""
        self._embeddings, self._heads = embeddings, heads
        self._column = heads.names.index(COUNTER)

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the probability for each draft."""
        texts = [sample.text for sample in samples if sample.text]
        if not texts:
            return [None] * len(samples)
        column = self._heads.probabilities(await self._embeddings.of(texts), texts)[:, self._column]
        values = iter(column.tolist())
        return [float(next(values)) if sample.text else None for sample in samples]
