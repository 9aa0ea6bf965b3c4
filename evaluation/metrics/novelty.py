"""Novelty: how much of a draft's wording is new compared with references, or with earlier drafts."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from evaluation.metrics.metric import Metric, MetricCard, SystemMetric, Value
from evaluation.metrics.tokens import jaccard, n_grams, words
from evaluation.records import Sample

LENGTH = 3
"""Words in the n-grams that are looked for in earlier drafts."""


class NoveltyOfReferences(Metric):
    """One minus the word overlap with the most similar reference."""

    card = MetricCard(
        name="novelty_references",
        label="Novelty (references)",
        source="Wang and Wan 2018",
        formula="1 - max over the references of |A ∩ B| / |A ∪ B|; A, B: sets of words",
        lowest=0,
        highest=1,
        higher_is_better=None,
        blind_spot="A reply beside the point is novel too.",
        by_references=True,
    )

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the novelty of each draft that has references."""
        return [_against(sample) if sample.text and sample.references else None for sample in samples]


class NoveltyOfEarlier(SystemMetric):
    """The mean share of a draft's three-word sequences that no earlier draft of its system contains."""

    card = MetricCard(
        name="novelty_earlier",
        label="Novelty (earlier replies)",
        source="ours, after the shared task's novelty (share of n-grams not seen before)",
        formula="mean over drafts, in the posts' order, of (3-grams not in any earlier draft) / (3-grams of the draft)",
        lowest=0,
        highest=1,
        higher_is_better=True,
        blind_spot="Depends on how alike the posts are: ten posts that make one claim deserve one answer.",
    )

    def of_system(self, samples: Sequence[Sample], values: Sequence[Value]) -> Value:
        """Return the mean share; None where no draft has three words."""
        seen: set[int] = set()
        shares: list[float] = []
        for sample in samples:
            grams = {hash(gram) for gram in n_grams(words(sample.text), LENGTH)}
            if grams:
                shares.append(len(grams - seen) / len(grams))
                seen |= grams
        return fmean(shares) if shares else None


def _against(sample: Sample) -> float:
    own = frozenset(words(sample.text))
    return 1 - max(jaccard(own, frozenset(words(reference))) for reference in sample.references)
