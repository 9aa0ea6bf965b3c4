"""Take a text apart into words and stems that can be compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import snowballstemmer

from pipeline.languages import pack, packs

# Scripts written without spaces count one character as one word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]|[^\W_]+(?:['’][^\W_]+)*")
FIRST_UNSPACED = "\u0e00"
"""First character of the scripts written without spaces, in which a single character is a word."""
FIRST_COMBINING = "\u0300"
"""Characters before this one never combine with another."""
LONGEST_STEMMED = 60
"""Most letters of a word that is stemmed."""


def fold(text: str) -> str:
    """Return `text` in lower case, without accents or compatibility forms, and with plain apostrophes."""
    decomposed = unicodedata.normalize("NFKD", text.replace("’", "'")).casefold()
    if decomposed.isascii():
        return decomposed
    return "".join([char for char in decomposed if char < FIRST_COMBINING or not unicodedata.combining(char)])


def words(text: str) -> tuple[str, ...]:
    """Return the folded words of `text` in order; possessive endings are dropped."""
    return tuple(_without_possessive(word) for word in _WORD.findall(fold(text)))


def word_spans(folded: str) -> list[tuple[int, int]]:
    """Return the positions of the words of folded text, in order."""
    return [match.span() for match in _WORD.finditer(folded)]


@lru_cache(maxsize=65536)
def stem(word: str, language: str) -> str:
    """Return the Snowball stem of a folded word, so that "discriminated" meets "discrimination".

    Words that are compared must be stemmed alike, so `language` is that of the comparison, not of each word.
    """
    if len(word) > LONGEST_STEMMED:
        return word
    entry = pack(language)
    word = entry.words.irregular.get(word, word)
    for pattern, other in entry.words.spelling.items():
        word = re.sub(pattern, other, word)
    # A stemmer stores the word it works on, so threads can't share one.
    return str(snowballstemmer.stemmer(entry.stemmer).stemWord(word))


def common_start(word: str, other: str) -> int:
    """Return how many initial letters two words have in common."""
    return next(
        (k for k, (left, right) in enumerate(zip(word, other, strict=False)) if left != right),
        min(len(word), len(other)),
    )


def stems(folded: Iterable[str], language: str) -> frozenset[str]:
    """Return the stems of folded words."""
    return frozenset(stem(word, language) for word in folded)


def content(folded: Iterable[str], language: str) -> frozenset[str]:
    """Return the stems of the folded words that carry meaning: no function words, no single letters."""
    empty = function_words(language)
    return stems((word for word in folded if (len(word) > 1 or word >= FIRST_UNSPACED) and word not in empty), language)


@lru_cache(maxsize=32)
def function_words(language: str) -> frozenset[str]:
    """Return the folded function words of a language."""
    return frozenset(words(" ".join(pack(language).words.function)))


@lru_cache(maxsize=32)
def claim_stems(language: str) -> frozenset[str]:
    """Return stems a reply may use without evidence: the vocabulary of rights, fairness and disagreement.

    They come from the pack's list and from the composer's claim templates.
    """
    entry = pack(language)
    templates = (
        template.replace("{evidence}", "")
        for by_group in entry.templates.values()
        for listed in by_group.values()
        for template in listed
    )
    return stems((word for text in (*entry.words.claim, *templates) for word in words(text)), language)


def _without_possessive(word: str) -> str:
    ending = next((ending for ending in _possessives() if word.endswith(ending)), "")
    return word.removesuffix(ending)


@lru_cache(maxsize=1)
def _possessives() -> tuple[str, ...]:
    return tuple(ending for entry in packs().values() for ending in entry.possessives)
