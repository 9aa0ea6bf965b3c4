"""BERTScore: how close each token of a draft is to its nearest token in a reference, by an encoder's states."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.records import Sample

E5_CAUTION = (
    "With e5 it separates weakly: paraphrases and opposite claims come out nearly alike. Read it, never rank by it. "
)
TokenVectors = Callable[[Sequence[str]], Awaitable[list[NDArray[np.float32]]]]
"""A function that returns each text's token vectors: shape (tokens, d), rows normalised to length 1."""


def f1(draft: NDArray[np.float32], reference: NDArray[np.float32]) -> float:
    """Return the harmonic mean of precision and recall by greedy matching, without idf weights.

    Takes token vectors of shapes (tokens, d). The result is 0 if a text has no tokens, such as a single space.
    """
    if not len(draft) or not len(reference):
        return 0.0
    similarity = draft @ reference.T
    precision, recall = float(similarity.max(axis=1).mean()), float(similarity.max(axis=0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


class BertScore(Metric):
    """BERTScore F1 against the nearest reference, with the token states of an encoder."""

    def __init__(self, vectors: TokenVectors, encoder: str, caution: str = "") -> None:
        """Take the source of token vectors, the encoder's name, and a caution for the metric's blind spot."""
        self._vectors = vectors
        self.card = MetricCard(
            name="bertscore",
            label="BERTScore F1",
            source="Zhang et al. 2020, no idf weights, no rescaling",
            formula="2PR / (P + R); P: mean over the draft's tokens of the best cosine with a reference's token; R: "
            "the other way round",
            lowest=-1,
            highest=1,
            higher_is_better=True,
            blind_spot=f"{caution}No figure can be compared with one of another encoder.",
            by_references=True,
            by=f"token states of {encoder}",
        )

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the BERTScore of each draft."""
        compared = [sample for sample in samples if sample.text and sample.references]
        texts = dict.fromkeys(text for sample in compared for text in (sample.text, *sample.references))
        vectors = dict(zip(texts, await self._vectors(list(texts)), strict=True))
        return [
            max(f1(vectors[sample.text], vectors[reference]) for reference in sample.references)
            if sample.text and sample.references
            else None
            for sample in samples
        ]
