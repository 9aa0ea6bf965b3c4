"""Fit a network with one hidden layer, using numpy alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.network import Network
from training.heads.fit import Answers, Numbers, Weights

UNITS = 128
PASSES, PORTION = 12, 128
RATE = 2e-3
DROPPED = 0.5
"""Share of the units dropped for each portion (Srivastava et al. 2014), so that none memorises a text."""


def fit_network(columns: Numbers, truth: Answers, weights: Numbers) -> Network:
    """Minimise each head's logistic loss; `truth` and `weights` have shape (n, heads).

    A weight of 0 leaves a text out for a head; the weights of a head sum to 1. The same data give the same network.
    """
    chance = np.random.default_rng(0)
    (count, width), heads = columns.shape, truth.shape[1]
    weights = weights * np.float32(count)
    hidden = Weights(_drawn(chance, (width, UNITS)), RATE)
    bias = Weights(np.zeros(UNITS, np.float32), RATE)
    out = Weights(_drawn(chance, (UNITS, heads)), RATE)
    size = min(PORTION, count)
    steps = PASSES * (count // size)
    portions = (rows for _ in range(PASSES) for rows in np.split(chance.permutation(count)[: count - count % size],
                                                                 count // size))  # fmt: skip
    for step, rows in enumerate(portions, 1):
        seen = columns[rows]
        before = seen @ hidden.values + bias.values
        kept = (chance.random(before.shape) >= DROPPED).astype(np.float32) / np.float32(1 - DROPPED)
        units = np.maximum(before, 0) * kept
        error = 1 / (1 + np.exp(-np.clip(units @ out.values, -30, 30))) - truth[rows]
        slope = np.asarray(error * weights[rows] / size, np.float32)
        slopes = np.asarray((slope @ out.values.T) * kept * (before > 0), np.float32)
        out.move(units.T @ slope, step, steps)
        hidden.move(seen.T @ slopes, step, steps)
        bias.move(slopes.sum(axis=0), step, steps)
    return Network(hidden.values, bias.values, out.values)


def _drawn(chance: np.random.Generator, shape: tuple[int, int]) -> Numbers:
    return chance.normal(0, shape[0] ** -0.5, shape).astype(np.float32)


def half(values: NDArray[np.floating]) -> Numbers:
    """Return values rounded to half precision, as a file stores them."""
    return values.astype(np.float16).astype(np.float32)
