"""Distinct-1 and Distinct-2: how many different n-grams a system uses."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.metrics.metric import MetricCard, SystemMetric, Value
from evaluation.metrics.tokens import n_grams, words
from evaluation.records import Sample


class Distinct(SystemMetric):
    """The share of distinct n-grams among all n-grams of a system's drafts."""

    def __init__(self, n: int) -> None:
        """Take the length of the n-grams."""
        self._n = n
        self.card = MetricCard(
            name=f"distinct_{n}",
            label=f"Distinct-{n}",
            source="Li et al. 2016",
            formula=f"different {n}-grams / all {n}-grams of a system's drafts",
            lowest=0,
            highest=1,
            higher_is_better=True,
            blind_spot="Falls as drafts grow in number or length: compare systems on the same posts only. Nonsense "
            "is varied too.",
        )

    def of_system(self, samples: Sequence[Sample], values: Sequence[Value]) -> Value:
        """Return the share; None if no draft is long enough for an n-gram."""
        different: set[tuple[str, ...]] = set()
        count = 0
        for sample in samples:
            grams = list(n_grams(words(sample.text), self._n))
            different.update(grams)
            count += len(grams)
        return len(different) / count if count else None
