"""A small network with one hidden layer, used by the heads of triage, threats and the guard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float32]


@dataclass(frozen=True)
class Network:
    """A layer of n rectified units over w columns, with one output per head.

    `hidden` has shape (w, n), `bias` (n,), `out` (n, heads).
    """

    hidden: Numbers
    bias: Numbers
    out: Numbers

    def logits(self, columns: Numbers) -> Numbers:
        """Return logits of shape (texts, heads) for `columns` of shape (texts, w)."""
        return np.asarray(np.maximum(columns @ self.hidden + self.bias, 0) @ self.out, np.float32)
