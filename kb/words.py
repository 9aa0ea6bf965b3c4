"""Find paragraphs by their words: BM25 over four-letter pieces of words or, in a large knowledge base, whole words.

Pieces match inflected words, and words spelt alike in two languages (`discrimina-`, `religi-`), which raises the hit
rate for Spanish and Italian posts. A large knowledge base has whole words only, as pieces take four times the room.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.errors import KnowledgeBaseError
from kb.postings import Postings, PostingsWriter, Tokens, Weights
from kb.query import Hit, Mask, Query
from kb.versions import BUILD_AGAIN

FOLDER = "words"
PIECE = 4
MOST_TOKENS = 400
"""Most distinct tokens of a query that count, in the order of the text."""
K1, B = 1.5, 0.75
"""The usual constants of BM25, as `bm25s` has them."""

_WORD = re.compile(r"\w+")
_LISTS = {"de": "GERMAN", "en": "EN", "es": "SPANISH", "fr": "FRENCH", "it": "ITALIAN"}


class WordIndex:
    """Texts by the words in them, without the stop words of their language. Searching is safe from many threads.

    In a language without a list of stop words, all words are kept.
    """

    def __init__(self, postings: Postings, pieces: bool) -> None:
        self._postings, self._pieces = postings, pieces
        # A query may be in another language than the texts; its stop words would match pieces of their words.
        self._stop_words = frozenset[str]().union(*map(_stop_words, _LISTS))

    @classmethod
    def load(cls, folder: Path) -> WordIndex:
        """Map an index; raises KnowledgeBaseError when it is missing or damaged."""
        postings = Postings.load(folder / FOLDER)
        pieces = postings.facts.get("pieces")
        if not isinstance(pieces, bool):
            raise KnowledgeBaseError(f"The word index in {folder} can't be read: its facts are missing. {BUILD_AGAIN}")
        return cls(postings, pieces)

    def retrieve(self, query: Query, depth: int, allowed: Mask | None = None) -> list[Hit]:
        """Return up to `depth` texts that share a word with the query, best first."""
        names = list(dict.fromkeys(_tokens(query.text, self._stop_words, self._pieces)))[:MOST_TOKENS]
        return self._postings.best({_number(name): 1.0 for name in names}, depth, allowed)


class WordWriter:
    """A writer of a word index into a folder, in bounded memory."""

    def __init__(self, folder: Path, *, pieces: bool) -> None:
        self._writer = PostingsWriter(folder / FOLDER, _bm25)
        self._pieces = pieces

    def add(self, text: str, language: str) -> None:
        """Add a text; it gets the next number."""
        counted = Counter(_tokens(text, _stop_words(language), self._pieces))
        self._writer.add({_number(token): times for token, times in counted.items()})

    def finish(self) -> None:
        """Write the rest."""
        self._writer.finish({"pieces": self._pieces})


def _bm25(tokens: Tokens, texts: NDArray[np.int32], times: Weights, count: int) -> Weights:
    """Return how much each token of a text adds to the text's score.

    Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, with the inverse document frequency
    of Lucene's BM25Similarity, which is never negative.
    """
    lengths = np.bincount(texts, weights=times, minlength=count)
    relative = lengths[texts] / max(float(lengths.mean()), 1.0) if len(texts) else lengths[texts]
    _, where, holders = np.unique(tokens, return_inverse=True, return_counts=True)
    rarity = np.log(1 + (count - holders + 0.5) / (holders + 0.5))[where]
    weights: Weights = (rarity * times / (K1 * (1 - B + B * relative) + times)).astype(np.float32)
    return weights


def _tokens(text: str, stop_words: Collection[str], pieces: bool) -> Iterator[str]:
    for word in _WORD.findall(text.lower()):
        if len(word) < 2 or word in stop_words:
            continue
        if not pieces:
            yield word
            continue
        padded = f" {word} "
        yield from (padded[start : start + PIECE] for start in range(max(1, len(padded) - PIECE + 1)))


@lru_cache(maxsize=1_000_000)
def _number(token: str) -> int:
    """Return a token's number; with 64 bits, two of a million tokens clash once in 30 million knowledge bases."""
    return int.from_bytes(hashlib.blake2b(token.encode(), digest_size=8).digest(), "little")


@cache
def _stop_words(language: str) -> frozenset[str]:
    from bm25s import stopwords

    name = _LISTS.get(language[:2].lower())
    return frozenset(getattr(stopwords, f"STOPWORDS_{name}")) if name else frozenset()
