"""What a search asks for and what a retriever returns: the words that all kinds of indexes share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]
TokenWeights = Mapping[int, float]
"""Tokens' numbers and how much each counts."""


@dataclass(frozen=True)
class Query:
    """What is looked for, as each retriever needs it: words, a unit vector, weighted tokens."""

    text: str
    vector: Vectors | None = None
    weights: TokenWeights | None = None


class Hit(NamedTuple):
    """The number of a paragraph and how well it fits; scores of one retriever can be compared."""

    number: int
    score: float


class Retriever(Protocol):
    """A way to find paragraphs.

    Any text may be asked for. A retriever that lacks its part of the query finds nothing. It holds a thread up, is
    safe to call from many of them, and gives the same answer to the same query.
    """

    def retrieve(self, query: Query, depth: int, allowed: Mask | None = None) -> list[Hit]:
        """Return up to `depth` different paragraphs, best first; `allowed` says for each number whether it may come."""
