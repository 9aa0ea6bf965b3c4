"""Fit several logistic regressions at once, over dense and sparse columns. Needs scipy (the `dev` extra)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Numbers = NDArray[np.float32]
Answers = NDArray[np.bool_]

PASSES, PORTION = 8, 256
DENSE_RATE, SPARSE_RATE = 1e-3, 1e-2
DENSE_DECAY, SPARSE_DECAY = 1e-4, 1e-5


@dataclass(frozen=True)
class Columns:
    """The features of n texts: `dense` of shape (n, d), standardised, and `sparse` of shape (n, buckets)."""

    dense: Numbers
    sparse: csr_array

    def rows(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Columns:
        """Return the features of the chosen texts."""
        return Columns(self.dense[chosen], self.sparse[chosen])


@dataclass(frozen=True)
class Fitted:
    """Weights of shape (d, heads) and (buckets, heads), and the bias of each head."""

    dense: Numbers
    sparse: Numbers
    bias: Numbers

    def logits(self, columns: Columns) -> Numbers:
        """Return logits of shape (n, heads)."""
        return np.asarray(columns.dense @ self.dense + columns.sparse @ self.sparse + self.bias, np.float32)


class Weights:
    """An array trained by Adam (Kingma and Ba 2015), with a step size that falls linearly towards 0."""

    def __init__(self, values: Numbers, rate: float, decay: float = 0.0) -> None:
        self.values = values
        self._rate, self._decay = rate, decay
        self._mean, self._square = np.zeros_like(self.values), np.zeros_like(self.values)

    def move(self, gradient: Numbers, step: int, steps: int) -> None:
        """Make step number `step` of `steps` down the `gradient`, which has the shape of the values."""
        gradient = gradient + self._decay * self.values
        self._mean += 0.1 * (gradient - self._mean)
        self._square += 0.01 * (gradient**2 - self._square)
        mean, square = self._mean / (1 - 0.9**step), self._square / (1 - 0.99**step)
        self.values -= np.float32(self._rate * (1 - (step - 1) / steps)) * mean / (np.sqrt(square) + 1e-6)


def fit(columns: Columns, truth: Answers, weights: Numbers) -> Fitted:
    """Minimise each head's logistic loss; `truth` and `weights` have shape (n, heads).

    A weight of 0 leaves a text out for a head. The passes end long before the loss stops falling: early stopping keeps
    the weights of rare pieces of words small, and does so better than a penalty.
    """
    count, heads = truth.shape
    sign = np.where(truth, 1, -1).astype(np.float32)
    weights = weights * np.float32(count)
    dense = Weights(np.zeros((columns.dense.shape[1], heads), np.float32), DENSE_RATE, DENSE_DECAY)
    sparse = Weights(np.zeros((columns.sparse.shape[1], heads), np.float32), SPARSE_RATE, SPARSE_DECAY)
    bias = Weights(np.zeros(heads, np.float32), 2 * DENSE_RATE)
    order, size = np.random.default_rng(0), min(PORTION, count)
    steps = PASSES * (count // size)
    portions = (rows for _ in range(PASSES) for rows in np.split(order.permutation(count)[: count - count % size],
                                                                 count // size))  # fmt: skip
    for step, rows in enumerate(portions, 1):
        seen = columns.rows(rows)
        logits = Fitted(dense.values, sparse.values, bias.values).logits(seen)
        slope = -weights[rows] * sign[rows] / (1 + np.exp(np.clip(sign[rows] * logits, -30, 30))) / np.float32(size)
        dense.move(seen.dense.T @ slope, step, steps)
        sparse.move(seen.sparse.T @ slope, step, steps)
        bias.move(slope.sum(axis=0), step, steps)
    return Fitted(dense.values, sparse.values, bias.values)


def balanced(truth: Answers, counts: Numbers) -> Numbers:
    """Return weights in proportion to `counts`, scaled so that either answer of each head sums to one half."""
    weights = np.zeros_like(counts)
    for answer in (True, False):
        chosen = counts * (truth == answer)
        weights += chosen / np.maximum(2 * chosen.sum(axis=0), 1e-9)
    return weights
