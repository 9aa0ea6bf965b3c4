"""The contract of metrics: a card that describes the metric, a value per draft, and a value per system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluation.records import Sample

Value = float | None
"""A measurement; None if there is nothing to measure."""


@dataclass(frozen=True)
class MetricCard:
    """The description of a metric for readers of its figures.

    `highest` is None if there is no upper limit, and `higher_is_better` if neither direction is better. `blind_spot`
    says what the figure does not show. `by_references` is set if drafts are compared with references. `by` names the
    models or rules that compute the metric, where there is a choice; a run's manifest records it.
    """

    name: str
    label: str
    source: str
    formula: str
    lowest: float
    highest: float | None
    higher_is_better: bool | None
    blind_spot: str
    by_references: bool = False
    by: str = ""


class Metric(ABC):
    """A measure of drafts. It is given samples, which don't say which system wrote them."""

    card: MetricCard

    @abstractmethod
    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return a value for each draft; None for one that is empty or lacks what the metric needs."""

    def of_system(self, samples: Sequence[Sample], values: Sequence[Value]) -> Value:
        """Return a system's value, given its drafts and their values: the mean, unless a metric overrides this.

        The samples come without evidence here, to save memory: there may be very many.
        """
        known = [value for value in values if value is not None]
        return fmean(known) if known else None


class SystemMetric(Metric):
    """A measure of a system's drafts taken together; a single draft has no value."""

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return None for each draft."""
        return [None] * len(samples)

    @abstractmethod
    def of_system(self, samples: Sequence[Sample], values: Sequence[Value]) -> Value:
        """Return the value of all of a system's drafts together."""
