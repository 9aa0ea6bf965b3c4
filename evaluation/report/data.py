"""The scored drafts of a run in columns, as tables and plots read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from core.errors import BadInput
from evaluation.records import REFERENCES
from evaluation.run import RunFolder

DIMENSIONS = ("group", "language", "intent")


@dataclass(frozen=True)
class ScoredRun:
    """All scored drafts of a run, one per row.

    `posts` and `systems` identify each row, and `dimensions` has an array for each of DIMENSIONS. `columns` has an
    array of values for each metric, NaN for a draft without a value.
    """

    run: RunFolder
    totals: dict[str, Any]
    seed: int
    posts: NDArray[np.str_]
    systems: NDArray[np.str_]
    dimensions: dict[str, NDArray[np.str_]]
    columns: dict[str, NDArray[np.float64]]

    @classmethod
    def load(cls, run: RunFolder) -> Self:
        """Read the scores of a run; raises BadInput if there are none, or if they belong to other drafts."""
        totals = run.totals()
        traits = {
            (draft.post_id, draft.system): (
                draft.groups[0].value if draft.groups else "none",
                draft.language,
                draft.intent.value,
            )
            for draft in run.drafts()
        }
        keys: list[tuple[str, str]] = []
        values: dict[str, list[float]] = {name: [] for name in totals["metrics"]}
        for scores in run.scores():
            keys.append((scores.post_id, scores.system))
            for name, column in values.items():
                column.append(scores.values.get(name, np.nan))
        unknown = next((key for key in keys if key not in traits), None)
        if unknown is not None or not keys:
            what = (
                f"the score of a draft that is not in drafts.jsonl ({', '.join(unknown)})" if unknown else "no scores"
            )
            raise BadInput(f"{run.path} has {what}; run `rejoinder evaluate score {run.path}` again.")
        rows = [traits[key] for key in keys]
        return cls(
            run=run,
            totals=totals,
            seed=run.manifest().seed,
            posts=np.array([post for post, _ in keys]),
            systems=np.array([system for _, system in keys]),
            dimensions={name: np.array([row[place] for row in rows]) for place, name in enumerate(DIMENSIONS)},
            columns={name: np.array(column) for name, column in values.items()},
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the systems in the order in which they drafted, with people's references last."""
        names = dict.fromkeys(self.systems.tolist())
        return tuple(sorted(names, key=lambda name: name == REFERENCES))

    def values(self, metric: str, system: str, **where: str) -> NDArray[np.float64]:
        """Return a system's known values of a metric, for drafts that match every dimension in `where`."""
        chosen = self.systems == system
        for dimension, value in where.items():
            chosen &= self.dimensions[dimension] == value
        column = self.columns[metric][chosen]
        return np.asarray(column[~np.isnan(column)])

    def pairs(self, metric: str, left: str, right: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return two systems' values of a metric, paired by post, on the posts for which both have a value."""
        return paired_values(self._by_post(metric, left), self._by_post(metric, right))

    def shared(self, metric: str, system: str, other: ScoredRun) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a system's values of a metric in this run and another, paired by post, where both have a value."""
        return paired_values(self._by_post(metric, system), other._by_post(metric, system))

    def _by_post(self, metric: str, system: str) -> dict[str, float]:
        return dict(self._known(metric, system))

    def _known(self, metric: str, system: str) -> Iterator[tuple[str, float]]:
        for place in np.flatnonzero(self.systems == system):
            value = self.columns[metric][place]
            if not np.isnan(value):
                yield str(self.posts[place]), float(value)


def paired_values(left: dict[str, float], right: dict[str, float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values of the keys that both share, in the same order."""
    shared = [key for key in left if key in right]
    return np.array([left[key] for key in shared]), np.array([right[key] for key in shared])
