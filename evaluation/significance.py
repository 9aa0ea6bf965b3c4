"""Estimate how certain a difference is: bootstrap intervals, permutation tests, and Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap, permutation_test

RESAMPLES = 2_000
BATCH = 50
"""Resamples held in memory at once: each may have 100,000 values."""
CONFIDENCE = 0.95

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A mean with its bootstrap interval, which is a single point if there is one value or all are equal."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """The mean difference of paired values with its interval, the p-value of a permutation test, and their number."""

    interval: Interval
    p: float
    pairs: int


def interval(values: Sequence[float] | Values, seed: int) -> Interval:
    """Return the mean of one or more values with its percentile bootstrap interval."""
    array = np.asarray(values, np.float64)
    mean = float(array.mean())
    if len(array) < 2 or np.ptp(array) == 0:
        return Interval(mean, mean, mean)
    limits = bootstrap(
        (array,), np.mean, confidence_level=CONFIDENCE, n_resamples=RESAMPLES, batch=BATCH, method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    return Interval(mean, float(limits.low), float(limits.high))


def paired(left: Sequence[float] | Values, right: Sequence[float] | Values, seed: int) -> Difference:
    """Return the difference `left` minus `right`, value by value; both have the same length, at least 1."""
    first, second = np.asarray(left, np.float64), np.asarray(right, np.float64)
    differences = first - second
    if not differences.any():
        return Difference(Interval(0, 0, 0), 1.0, len(differences))
    result = permutation_test(
        (first, second), _mean_difference, permutation_type="samples", vectorized=True, n_resamples=RESAMPLES,
        batch=BATCH, rng=np.random.default_rng(seed),
    )  # fmt: skip
    return Difference(interval(differences, seed), float(result.pvalue), len(differences))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values corrected for their number (Holm 1979), in the order given."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = highest
    return corrected


def _mean_difference(left: Values, right: Values, axis: int) -> Values:
    return np.asarray(np.mean(left - right, axis=axis))
