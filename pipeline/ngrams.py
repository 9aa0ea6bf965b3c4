"""Describe a text's surface: its words, pairs of words and pieces of words, hashed into buckets.

They show what an embedding blurs: a slur, a "not", a spelling meant to deceive (the text is folded first).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from pipeline.normalise import fold_disguised

WORD_BUCKETS = 1 << 14
PIECE_BUCKETS = 1 << 14
BUCKETS = WORD_BUCKETS + PIECE_BUCKETS
PIECES = (3, 4, 5)
LONGEST = 400
"""Characters that are read, in training too; it bounds the time that a long text takes."""

_WORD = re.compile(r"\w+|[^\w\s]")


def buckets(text: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the buckets a text falls into and their weights; words and pieces each have length 1 (L2)."""
    words = _WORD.findall(fold_disguised(text[:LONGEST]))
    whole = _hashed((*words, *(f"{left} {right}" for left, right in pairwise(words))), WORD_BUCKETS)
    pieces = _hashed((piece for word in set(words) for piece in _pieces(word)), PIECE_BUCKETS)
    places = np.fromiter((*whole, *(WORD_BUCKETS + piece for piece in pieces)), np.int64, len(whole) + len(pieces))
    weights = np.empty(len(places), np.float32)
    weights[: len(whole)] = 1 / sqrt(max(len(whole), 1))
    weights[len(whole) :] = 1 / sqrt(max(len(pieces), 1))
    return places, weights


def _pieces(word: str) -> Iterator[str]:
    padded = f" {word} "
    return (padded[start : start + size] for size in PIECES for start in range(len(padded) - size + 1))


def _hashed(terms: Iterable[str], size: int) -> set[int]:
    # CRC-32 is fast and gives the same on every machine and Python. "replace" keeps a lone surrogate from raising.
    return {zlib.crc32(term.encode("utf-8", "replace")) % size for term in terms}
