"""Fit the network of a sentence head, using numpy alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.network import Network
from training.heads.fit import Weights
from training.heads.network import half

Numbers = NDArray[np.float32]

UNITS, PASSES, PORTION = 128, 8, 256
RATE, DECAY = 2e-3, 1e-6
UNSEEN, DROPPED = 0.1, 0.5
"""Shares of the columns, and of the units, that are dropped for each portion."""
SMOOTHED = 0.03
"""Distance of the training targets from 0 and 1."""
MOST_COUNTED = 8.0
"""Largest weight of one sample, as a multiple of the mean, so that no sample dominates a step."""


@dataclass(frozen=True)
class Fitted:
    """A network and the bias that is added to its output."""

    network: Network
    bias: float


def fit_network(columns: Numbers, good: NDArray[np.bool_], weights: NDArray[np.float64], seeds: int) -> Fitted:
    """Return the mean of `seeds` networks as one network; the same data and number give the same network."""
    fitted = [_fit_one(columns, good, weights, seed) for seed in range(seeds)]
    return Fitted(
        Network(
            half(np.concatenate([single.network.hidden for single in fitted], axis=1)),
            half(np.concatenate([single.network.bias for single in fitted])),
            half(np.concatenate([single.network.out for single in fitted]) / seeds),
        ),
        sum(single.bias for single in fitted) / seeds,
    )


def _fit_one(columns: Numbers, good: NDArray[np.bool_], weights: NDArray[np.float64], seed: int) -> Fitted:
    """Minimise the logistic loss of one network; the arrays have shapes (n, w), (n,) and (n,)."""
    chance = np.random.default_rng(seed)
    count, width = columns.shape
    counted = np.minimum(weights / weights.mean(), MOST_COUNTED).astype(np.float32)
    answers = good * np.float32(1 - 2 * SMOOTHED) + np.float32(SMOOTHED)
    hidden = Weights(chance.normal(0, width**-0.5, (width, UNITS)).astype(np.float32), RATE, DECAY)
    bias = Weights(np.zeros(UNITS, np.float32), RATE)
    out = Weights(np.append(chance.normal(0, UNITS**-0.5, UNITS), 0).astype(np.float32), RATE)
    size = min(PORTION, count)
    steps = PASSES * (count // size)
    for step, rows in enumerate(_portions(count, size, chance), 1):
        seen = columns[rows] * _kept(chance, (size, width), UNSEEN)
        before = seen @ hidden.values + bias.values
        kept = _kept(chance, before.shape, DROPPED)
        units = np.maximum(before, 0) * kept
        chances = 1 / (1 + np.exp(-np.clip(units @ out.values[:-1] + out.values[-1], -30, 30)))
        slope = np.asarray((chances - answers[rows]) * counted[rows] / size, np.float32)
        of_units = np.asarray(slope[:, np.newaxis] * out.values[:-1] * kept * (before > 0), np.float32)
        out.move(np.append(units.T @ slope, slope.sum()).astype(np.float32), step, steps)
        hidden.move(np.asarray(seen.T @ of_units, np.float32), step, steps)
        bias.move(of_units.sum(axis=0), step, steps)
    return Fitted(Network(hidden.values, bias.values, out.values[:-1, np.newaxis]), float(out.values[-1]))


def _portions(count: int, size: int, chance: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    for _ in range(PASSES):
        order = chance.permutation(count)
        yield from np.split(order[: count - count % size], count // size)


def _kept(chance: np.random.Generator, shape: tuple[int, ...], without: float) -> Numbers:
    """Return dropout factors: 0 for a share `without` of the numbers, and above 1 for the others, so that sums hold."""
    return np.asarray((chance.random(shape, np.float32) >= without) / np.float32(1 - without), np.float32)
