"""D: how much each draft differs from the draft most similar to it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import fmean

from evaluation.metrics.metric import MetricCard, SystemMetric, Value
from evaluation.metrics.tokens import jaccard, words
from evaluation.records import Sample

MOST = 2_000
"""Most drafts that are compared, each with every other; of more, a sample of this size is, to limit the pairs."""


class Diversity(SystemMetric):
    """F2RL's D: the mean over drafts of one minus the word overlap with the most similar other draft."""

    card = MetricCard(
        name="d",
        label="D",
        source="Wang and Wan 2018, as F2RL (Wang et al. 2024) uses it; its formula was rebuilt",
        formula="mean over i of 1 - max over j ≠ i of |A_i ∩ A_j| / |A_i ∪ A_j|; A: set of words of a draft",
        lowest=0,
        highest=1,
        higher_is_better=True,
        blind_spot=f"One twin is enough for a 0. Beyond {MOST:,} drafts a sample of these is compared, which has "
        "fewer near twins.",
    )

    def __init__(self, seed: int = 0, most: int = MOST) -> None:
        """Take the seed of the sample, and the most drafts to compare."""
        self._seed, self._most = seed, most

    def of_system(self, samples: Sequence[Sample], values: Sequence[Value]) -> Value:
        """Return the mean; None for fewer than two drafts."""
        bags = [frozenset(words(sample.text)) for sample in samples if sample.text]
        if len(bags) > self._most:
            bags = Random(self._seed).sample(bags, self._most)
        if len(bags) < 2:
            return None
        nearest = [0.0] * len(bags)
        for i, left in enumerate(bags):
            for j in range(i + 1, len(bags)):
                overlap = jaccard(left, bags[j])
                nearest[i], nearest[j] = max(nearest[i], overlap), max(nearest[j], overlap)
        return 1 - fmean(nearest)
