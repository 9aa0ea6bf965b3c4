"""Words and n-grams as the metrics count them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without punctuation."""
    return _WORD.findall(text.lower())


def n_grams(tokens: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    """Yield the n-grams of a text's words, in their order."""
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the Jaccard similarity of two sets, 0 to 1; 0 if both are empty."""
    return len(left & right) / len(left | right) if left or right else 0.0
