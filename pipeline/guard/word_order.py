"""Tell how usual the order of a sentence's words is in its language, from counts of which word follows which.

The counts are made by `rejoinder train word-order`; figures and limits are in `pipeline/data/word_order.md`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import pairwise

import numpy as np

from models.arrays import open_arrays

FILE = "word_order.npz"
SHORTEST = 6
"""Fewest words of a sentence whose order can be judged."""
LISTED = 400
"""Commonest words of a language that are counted by themselves; other words are counted by their last letter."""
SMOOTHING = 30.0
LARGEST = 2.0
"""Most that one pair of words counts for, so that a single rare turn of phrase does not condemn a sentence."""
START, END = "^", "$"


@dataclass(frozen=True)
class WordOrder:
    """How often which kinds of words follow which in one language, and the usualness below which nobody writes."""

    listed: frozenset[str]
    pairs: Mapping[tuple[str, str], int]
    first: Mapping[str, int]
    second: Mapping[str, int]
    total: int
    least: float

    @classmethod
    def of(cls, listed: Iterable[str], pairs: Mapping[tuple[str, str], int], least: float) -> WordOrder:
        """Return the order for these pairs, with their sums."""
        first, second = Counter[str](), Counter[str]()
        for (before, after), count in pairs.items():
            first[before] += count
            second[after] += count
        return cls(frozenset(listed), pairs, first, second, first.total(), least)

    def usualness(self, words: Sequence[str]) -> float:
        """Return how much likelier each folded word is after the one before it than anywhere; mean of logarithms."""
        sequence = kinds(words, self.listed)
        gains = [self._gain(before, after) for before, after in pairwise(sequence)]
        return sum(gains) / len(gains)

    def _gain(self, before: str, after: str) -> float:
        anywhere = (self.second.get(after, 0) + 0.5) / (self.total + 0.5 * len(self.second))
        following = (self.pairs.get((before, after), 0) + SMOOTHING * anywhere) / (
            self.first.get(before, 0) + SMOOTHING
        )
        return max(-LARGEST, min(LARGEST, math.log(following / anywhere)))


def kinds(words: Sequence[str], listed: frozenset[str]) -> list[str]:
    """Return the words between START and END; a word that is not listed is replaced by its last letter."""
    return [START, *(word if word in listed else f"~{word[-1:]}" for word in words), END]


@lru_cache(maxsize=1)
def word_orders() -> Mapping[str, WordOrder]:
    """Return the shipped word orders by language; raises WeightsError for a file that is missing or damaged."""
    path = resources.files("pipeline").joinpath("data", FILE)
    with open_arrays(path, "The word orders") as data:
        return {str(language): _read(data, str(language)) for language in data["languages"]}


def _read(data: Mapping[str, np.ndarray], language: str) -> WordOrder:
    names = [str(name) for name in data[f"{language}_kinds"]]
    rows = zip(data[f"{language}_before"], data[f"{language}_after"], data[f"{language}_count"], strict=True)
    pairs = {(names[before], names[after]): int(count) for before, after, count in rows}
    listed = (name for name in names if not name.startswith("~") and name not in (START, END))
    return WordOrder.of(listed, pairs, float(data[f"{language}_least"]))
