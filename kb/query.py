"""A search's query and results: the vocabulary that all kinds of indexes share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]
TokenWeights = Mapping[int, float]
"""Tokens' numbers with their weights."""


@dataclass(frozen=True)
class Query:
    """What is looked for, as each retriever needs it: words, a unit vector, weighted tokens."""

    text: str
    vector: Vectors | None = None
    weights: TokenWeights | None = None


class Hit(NamedTuple):
    """The number of a paragraph and how well it fits; only scores of the same retriever are comparable."""

    number: int
    score: float


class Retriever(Protocol):
    """A way to find paragraphs.

    It takes any text, and finds nothing if the query lacks the part it needs. It blocks its thread, is safe to call
    from many threads, and gives the same answer to the same query.
    """

    def retrieve(self, query: Query, depth: int, allowed: Mask | None = None) -> list[Hit]:
        """Return up to `depth` different paragraphs, best first; `allowed` tells which numbers may be returned."""
