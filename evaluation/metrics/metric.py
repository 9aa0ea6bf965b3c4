"""What a metric is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluation.records import Sample

Value = float | None
"""A measurement; None where nothing can be said."""


@dataclass(frozen=True)
class MetricCard:
    """What a reader must know of a metric. `higher_is_better` is None where neither end is good.

    `blind_spot` says what a figure does not show. `by_references` tells that a draft is compared with references. `by`
    names the models or rules that compute it, where there is a choice; a run's manifest keeps it.
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
    """A measure of drafts. It sees samples, which don't say who wrote them."""

    card: MetricCard

    @abstractmethod
    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return a value for each draft; None where a draft is empty or lacks what the metric needs."""

    def of_system(self, samples: Sequence[Sample], values: Sequence[Value]) -> Value:
        """Return the value of all drafts of a system, given theirs; the mean unless a metric says otherwise.

        The samples carry no evidence here: there may be very many.
        """
        known = [value for value in values if value is not None]
        return fmean(known) if known else None


class SystemMetric(Metric):
    """A measure that only many drafts together have."""

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return None for each draft."""
        return [None] * len(samples)

    @abstractmethod
    def of_system(self, samples: Sequence[Sample], values: Sequence[Value]) -> Value:
        """Return the value of all drafts of a system."""
