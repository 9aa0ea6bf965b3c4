"""Split texts into the tokens of BERT's uncased vocabularies: the longest known piece first (WordPiece).

The tokens are those of the library `tokenizers` with BertNormalizer and BertPreTokenizer, without installing it and
what it brings along.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

LONGEST_WORD = 100
"""Characters from which a word counts as unknown, as in BERT's own code."""
WORDS_KEPT = 50_000
LONGEST_KEPT = 40
"""Characters from which a word's tokens are not kept, so that hostile text can't fill the memory."""

_CHINESE = re.compile(r"([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf])")


class WordPiece:
    """A splitter of texts into tokens by a vocabulary of pieces. Safe to use on several threads."""

    def __init__(self, numbers: Mapping[str, int], unknown: str) -> None:
        self._numbers, self._unknown = numbers, numbers[unknown]
        self._known_word = lru_cache(WORDS_KEPT)(self._split)

    def tokens(self, text: str, limit: int) -> list[int]:
        """Return a text's first `limit` tokens, without start and end tokens."""
        tokens: list[int] = []
        for word in _words(text):
            if len(tokens) >= limit:
                break
            tokens += self._known_word(word) if len(word) < LONGEST_KEPT else self._split(word)
        return tokens[:limit]

    def _split(self, word: str) -> tuple[int, ...]:
        pieces: list[int] = []
        start = 0
        while start < len(word) <= LONGEST_WORD:
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                if (number := self._numbers.get(mark + word[start:end])) is not None:
                    break
            else:
                return (self._unknown,)
            pieces.append(number)
            start = end
        return tuple(pieces) or (self._unknown,)


def _words(text: str) -> Iterator[str]:
    """Yield words and single signs, in lower case and without accents."""
    shown = "".join(" " if character.isspace() else character for character in text if not _hidden(character))
    plain = "".join(
        character
        for character in unicodedata.normalize("NFD", _CHINESE.sub(r" \1 ", shown))
        if unicodedata.category(character) != "Mn"
    )
    for word in plain.lower().split():
        start = 0
        for place, character in enumerate(word):
            if _is_sign(character):
                if start < place:
                    yield word[start:place]
                yield character
                start = place + 1
        if start < len(word):
            yield word[start:]


def _hidden(character: str) -> bool:
    if character in "\t\n\r":
        return False
    return character in "\0\ufffd" or unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs"}


def _is_sign(character: str) -> bool:
    """Tell whether a character stands alone: all of ASCII's besides letters and digits, and punctuation."""
    if character.isascii():
        return not character.isalnum()
    return unicodedata.category(character).startswith("P")
