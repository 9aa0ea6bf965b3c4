"""Merge rankings of the same things into one."""

from __future__ import annotations

from collections.abc import Sequence

K = 60
"""The constant of the paper; it damps the lead of the first places."""


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[int]], weights: Sequence[float] | None = None, k: int = K
) -> list[int]:
    """Return every item of the rankings, best first: each earns weight / (k + rank) in each, ranks from 1.

    Without `weights` all rankings count the same. Of equals, the one met first comes first. Source: Cormack, Clarke
    and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009.
    """
    scores: dict[int, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return sorted(scores, key=scores.__getitem__, reverse=True)
