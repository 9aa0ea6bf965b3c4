"""A small network over a post's tokens, each with its neighbours: one of the views of the hate head.

An embedding is a mean over all tokens and says little of who does what to whom; a token's state before the last layers,
next to its neighbours' states, still does.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]

LONGEST = 150
"""Tokens that are read, in training too; it bounds the time that a long text takes."""
NEARLY = 1e-6
"""Least distance of a probability from 0 and 1; nearer ones are clipped, so that their log odds are finite."""


@dataclass(frozen=True)
class TokenNetwork:
    """A layer of n rectified units over a token of w numbers, the token before it and the one after it, and one output.

    `taps` has shape (w, 3n), the weights for the token itself first; `bias` (n,). `out` has shape (2n + 1,): per unit a
    weight for its highest value and one for its scaled sum (`pooled_share`), then a bias. `shares` has the weight of
    the other views' logit, that of this network's, and a bias.
    """

    taps: Numbers
    bias: Numbers
    out: Numbers
    shares: Numbers

    def hate(self, other_views: float, tokens: Numbers) -> float:
        """Return how likely a post is hateful, from the other views' probability and its tokens, shape (tokens, w)."""
        before = min(max(other_views, NEARLY), 1 - NEARLY)
        of_others, of_tokens, bias = map(float, self.shares)
        return 1 / (1 + exp(-(of_others * log(before / (1 - before)) + of_tokens * self.logit(tokens) + bias)))

    def logit(self, tokens: Numbers) -> float:
        """Return the logit that the tokens alone give."""
        states = standardised(tokens[:LONGEST])
        units = activated(states @ self.taps, self.bias)
        pooled = np.concatenate([units.max(axis=0), units.sum(axis=0) * pooled_share(len(states))])
        return float(pooled @ self.out[:-1] + self.out[-1])


def standardised(tokens: Numbers) -> Numbers:
    """Return each token's numbers with mean 0 and standard deviation 1."""
    centred = tokens - tokens.mean(axis=-1, keepdims=True)
    return np.asarray(centred / (centred.std(axis=-1, keepdims=True) + 1e-6), np.float32)


def activated(seen: Numbers, bias: Numbers) -> Numbers:
    """Return the units' values at each token, shape (..., tokens, n), from the taps' outputs, (..., tokens, 3n)."""
    size = len(bias)
    total = seen[..., :size] + bias
    total[..., 1:, :] += seen[..., :-1, size : 2 * size]
    total[..., :-1, :] += seen[..., 1:, 2 * size :]
    return np.asarray(np.maximum(total, 0), np.float32)


def pooled_share(tokens: int | NDArray[np.int64]) -> Numbers:
    """Return the factor on the sum of a unit's values over this many tokens."""
    return np.asarray(0.5 / np.sqrt(tokens), np.float32)
