"""Merge several rankings of the same items into one."""

from __future__ import annotations

from collections.abc import Sequence

K = 60
"""The paper's constant; it reduces the lead of the first places."""


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[int]], weights: Sequence[float] | None = None, k: int = K
) -> list[int]:
    """Return all items of the rankings, best first: in each ranking an item earns weight / (k + rank), ranks from 1.

    Without `weights`, all rankings count the same. Ties go to the item met first. Source: Cormack, Clarke and Büttcher,
    "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009.
    """
    scores: dict[int, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, item in enumerate(ranking, start=1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return sorted(scores, key=scores.__getitem__, reverse=True)
