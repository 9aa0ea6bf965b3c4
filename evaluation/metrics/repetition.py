"""Repetition rate: how often a system repeats itself within a thousand words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

from evaluation.metrics.metric import MetricCard, SystemMetric, Value
from evaluation.metrics.tokens import n_grams, words
from evaluation.records import Sample

WINDOW = 1_000
"""Words per window; windows don't overlap."""
LENGTHS = (1, 2, 3, 4)


class RepetitionRate(SystemMetric):
    """The geometric mean, over four lengths, of the share of n-grams that occur more than once in a window."""

    card = MetricCard(
        name="repetition",
        label="RR",
        source="Bertoldi et al. 2013, Cettolo et al. 2014; windows of 1,000 words side by side",
        formula="(product over n = 1..4 of sum_S (V(n) - V(n,1)) / sum_S V(n)) ^ (1/4); V(n): different n-grams of "
        "window S, V(n,1): those that occur once",
        lowest=0,
        highest=1,
        higher_is_better=False,
        blind_spot="Words on file repeat by design, once a claim; it does not tell that from a model that is stuck.",
    )

    def __init__(self, window: int = WINDOW) -> None:
        """Take the number of words in a window."""
        self._window = window

    def of_system(self, samples: Sequence[Sample], values: Sequence[Value]) -> Value:
        """Return the rate; None if there are too few words for the longest n-gram."""
        tokens = [token for sample in samples for token in words(sample.text)]
        if len(tokens) < max(LENGTHS):
            return None
        windows = [tokens[start : start + self._window] for start in range(0, len(tokens), self._window)]
        return prod(_repeated(windows, n) for n in LENGTHS) ** (1 / len(LENGTHS))


def _repeated(windows: Sequence[Sequence[str]], n: int) -> float:
    counts = [Counter(n_grams(window, n)) for window in windows]
    different = sum(map(len, counts))
    repeated = sum(sum(number > 1 for number in count.values()) for count in counts)
    return repeated / different if different else 0.0
