"""A small network over a post's tokens, each with its neighbours, which the hate head has beside its other views.

A mean over all tokens, which an embedding is, says little of who does what to whom; a token's state before the last
layers, next to those beside it, still does.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]

LONGEST = 150
"""Tokens that are read, as in training; it bounds the time that a long text takes."""
NEARLY = 1e-6
"""How near to 0 and 1 a probability counts."""


@dataclass(frozen=True)
class TokenNetwork:
    """A layer of n rectified units over a token of w numbers, the one before it and the one after it, and one output.

    `taps` has shape (w, 3n), the token's own weights first, `bias` (n,), `out` (2n + 1,): a weight of each unit's
    highest value, one of its mean, and a bias. `shares` say what the other views' logit and this output count together,
    and a bias.
    """

    taps: Numbers
    bias: Numbers
    out: Numbers
    shares: Numbers

    def hate(self, other_views: float, tokens: Numbers) -> float:
        """Return how likely a post is hateful, given what the other views say and its tokens, shape (tokens, w)."""
        before = min(max(other_views, NEARLY), 1 - NEARLY)
        of_others, of_tokens, bias = map(float, self.shares)
        return 1 / (1 + exp(-(of_others * log(before / (1 - before)) + of_tokens * self.logit(tokens) + bias)))

    def logit(self, tokens: Numbers) -> float:
        """Return what the tokens alone say."""
        states = standardised(tokens[:LONGEST])
        units = activated(states @ self.taps, self.bias)
        pooled = np.concatenate([units.max(axis=0), units.sum(axis=0) * pooled_share(len(states))])
        return float(pooled @ self.out[:-1] + self.out[-1])


def standardised(tokens: Numbers) -> Numbers:
    """Return each token's numbers with mean 0 and spread 1."""
    centred = tokens - tokens.mean(axis=-1, keepdims=True)
    return np.asarray(centred / (centred.std(axis=-1, keepdims=True) + 1e-6), np.float32)


def activated(seen: Numbers, bias: Numbers) -> Numbers:
    """Return the units' values at each token, shape (..., tokens, n), from what the taps see, (..., tokens, 3n)."""
    size = len(bias)
    total = seen[..., :size] + bias
    total[..., 1:, :] += seen[..., :-1, size : 2 * size]
    total[..., :-1, :] += seen[..., 1:, 2 * size :]
    return np.asarray(np.maximum(total, 0), np.float32)


def pooled_share(tokens: int | NDArray[np.int64]) -> Numbers:
    """Return what a unit's value at one token counts in the sum over so many."""
    return np.asarray(0.5 / np.sqrt(tokens), np.float32)
