"""Score how toxic a text is with a small linear head over hashed word and character n-grams, in numpy.

It is trained by `training.toxicity`; figures and limits are in `data/toxicity.md`. It sees the surface only: it knows
insults and slurs by their letters, but not hate in polite words.
"""

from __future__ import annotations

import html
import re
import unicodedata
import zlib
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from math import exp, sqrt
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from models.arrays import open_arrays

BITS = 19
"""Features are hashed into 2 ** BITS buckets: a quarter of them for words and pairs, the rest for pieces of words."""
WORD_BUCKETS = 1 << (BITS - 2)
PIECE_BUCKETS = (1 << BITS) - WORD_BUCKETS
PIECES = (3, 4, 5)

_ADDRESS = re.compile(r"https?://\S+|www\.\S+|@\w+|<\w+>|\brt\b")
_STRETCHED = re.compile(r"(.)\1{2,}")
_WORD = re.compile(r"\w+|[^\w\s]")


def words(text: str) -> list[str]:
    """Return the words and signs of a text in lower case, without addresses and handles, stretched letters cut."""
    plain = unicodedata.normalize("NFKC", html.unescape(text)).lower()
    return _WORD.findall(_STRETCHED.sub(r"\1\1", _ADDRESS.sub(" ", plain)))


def features(text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the buckets of a text and their weights; words and pieces each have length 1 (L2)."""
    tokens = words(text)
    pairs = (f"{left} {right}" for left, right in pairwise(tokens))
    whole = {_bucket(term, WORD_BUCKETS) for term in (*tokens, *pairs)}
    pieces = {WORD_BUCKETS + _bucket(piece, PIECE_BUCKETS) for token in set(tokens) for piece in _pieces(token)}
    buckets = np.fromiter((*whole, *pieces), np.int64, len(whole) + len(pieces))
    weights = np.ones(len(buckets), np.float32)
    weights[: len(whole)] /= sqrt(max(len(whole), 1))
    weights[len(whole) :] /= sqrt(max(len(pieces), 1))
    return buckets, weights


def _pieces(token: str) -> list[str]:
    padded = f" {token} "
    return [padded[start : start + size] for size in PIECES for start in range(len(padded) - size + 1)]


def _bucket(term: str, buckets: int) -> int:
    # CRC-32 is fast and gives the same on every machine and Python. "replace" keeps a lone surrogate from raising.
    return zlib.crc32(term.encode("utf-8", "replace")) % buckets


class Toxicity(Protocol):
    """A judge of how toxic a text is. Safe to call from many threads at once."""

    @property
    def languages(self) -> frozenset[str]:
        """Return the languages it was trained on; in others its scores are only guesses."""

    def score(self, text: str) -> float:
        """Return the probability, 0 to 1, that people would call the text toxic; 0 for a text without a word."""


@dataclass(frozen=True)
class ToxicityHead:
    """A Toxicity by logistic regression: `weights` has shape (2 ** BITS,)."""

    weights: NDArray[np.float32]
    bias: float
    languages: frozenset[str] = frozenset({"en"})

    @classmethod
    def load(cls) -> Self:
        """Load the shipped head; raises WeightsError for a file that is missing or damaged."""
        with open_arrays(resources.files("models").joinpath("data/toxicity.npz"), "The toxicity head") as data:
            return cls(data["weights"].astype(np.float32), float(data["bias"]))

    def score(self, text: str) -> float:
        """Return the probability, 0 to 1, that people would call the text toxic; 0 for a text without a word."""
        buckets, weights = features(text)
        if not len(buckets):
            return 0.0
        logit = self.bias + float(self.weights[buckets] @ weights)
        return 1.0 / (1.0 + exp(-max(min(logit, 60.0), -60.0)))
