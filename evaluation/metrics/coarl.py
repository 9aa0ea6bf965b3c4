"""CoARL's reward: stance, argument quality and safety in one number."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.records import Sample


class CoarlReward(Metric):
    """The unweighted mean of a draft's stance, argument quality and safety, each 0 to 1."""

    card = MetricCard(
        name="coarl",
        label="CoARL reward",
        source="CoARL (Hengle et al. 2024), rebuilt from its prose; stance, AQ and safety as in their own rows",
        formula="((1 - PC) / 2 + AQ + (1 - T)) / 3, where (1 - PC) / 2 is the stance and 1 - T the safety",
        lowest=0,
        highest=1,
        higher_is_better=True,
        blind_spot="Says nothing of facts or of the intent, and inherits what its three parts don't see.",
    )

    def __init__(self, stance: Metric, quality: Metric, safety: Metric) -> None:
        """Take the three metrics to average."""
        self._parts = (stance, quality, safety)

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the reward of each draft for which all three metrics have a value."""
        columns = [await part.score(samples) for part in self._parts]
        return [_mean(row) for row in zip(*columns, strict=True)]


def _mean(row: Sequence[Value]) -> Value:
    known = [value for value in row if value is not None]
    return fmean(known) if len(known) == len(row) else None
