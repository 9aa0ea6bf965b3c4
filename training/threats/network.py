"""Fit a network of one hidden layer, with numpy alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.heads.fit import Weights

Numbers = NDArray[np.float32]

UNITS = 128
PASSES, PORTION = 12, 128
RATE = 2e-3
DROPPED = 0.5
"""Share of the units that each portion does without (Srivastava et al. 2014), so that no unit learns a text by heart."""


@dataclass(frozen=True)
class FittedNetwork:
    """Weights of n rectified units over w columns: `hidden` of shape (w, n), `bias` and `out` of shape (n,)."""

    hidden: Numbers
    bias: Numbers
    out: Numbers

    def logits(self, columns: Numbers) -> Numbers:
        """Return logits of shape (texts,) for `columns` of shape (texts, w)."""
        return np.asarray(np.maximum(columns @ self.hidden + self.bias, 0) @ self.out, np.float32)


def fit_network(columns: Numbers, truth: NDArray[np.bool_], weights: Numbers) -> FittedNetwork:
    """Minimise the logistic loss of texts that weigh `weights`, 1 on average; the same data give the same network."""
    chance = np.random.default_rng(0)
    count, width = columns.shape
    hidden = Weights(chance.normal(0, width**-0.5, (width, UNITS)).astype(np.float32), RATE)
    bias = Weights(np.zeros(UNITS, np.float32), RATE)
    out = Weights(chance.normal(0, UNITS**-0.5, UNITS).astype(np.float32), RATE)
    size = min(PORTION, count)
    steps = PASSES * (count // size)
    portions = (rows for _ in range(PASSES) for rows in np.split(chance.permutation(count)[: count - count % size],
                                                                 count // size))  # fmt: skip
    for step, rows in enumerate(portions, 1):
        before = columns[rows] @ hidden.values + bias.values
        kept = (chance.random(before.shape) >= DROPPED).astype(np.float32) / np.float32(1 - DROPPED)
        units = np.maximum(before, 0) * kept
        error = 1 / (1 + np.exp(-np.clip(units @ out.values, -30, 30))) - truth[rows]
        slope = np.asarray(error * weights[rows] / size, np.float32)
        slopes = np.outer(slope, out.values) * kept * (before > 0)
        out.move(units.T @ slope, step, steps)
        hidden.move(columns[rows].T @ slopes, step, steps)
        bias.move(slopes.sum(axis=0), step, steps)
    return FittedNetwork(hidden.values, bias.values, out.values)
