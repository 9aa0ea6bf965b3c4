"""Tell whether a sentence is a wording on file: the same words, and the same signs where they change a meaning."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from pipeline.guard.cues import negated
from pipeline.guard.words import content, fold, word_spans, words

_QUESTION = frozenset("?¿؟")
_PERCENT = frozenset("%‰")
_QUOTES = frozenset("\"'„‚")
_DASHES = frozenset("-‐‑‒–—")


@dataclass(frozen=True)
class Wording:
    """The folded words of a text, and what else its meaning depends on, sorted: see `signs`."""

    words: tuple[str, ...]
    signs: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """Take a text apart."""
        return cls(words(text), signs(fold(text)))


def quotes(text: str, wordings: Iterable[Wording], named: frozenset[str], language: str) -> bool:
    """Tell whether `text` is one of the wordings, perhaps after "<title> (<institution>):".

    What stands before the wording may use only the source's own words (`named`, content stems) and function words
    without a negation: "Not everyone …" turns the fact that "everyone …" around.
    """
    folded, own = fold(text), words(text)
    spans = word_spans(folded)
    for wording in wordings:
        size = len(wording.words)
        if not size or own[-size:] != wording.words:
            continue
        starts = spans[-size - 1][1] if len(spans) > size else 0
        if signs(folded[starts:]) == wording.signs and _introduces(own[:-size], folded[:starts], named, language):
            return True
    return False


def signs(folded: str) -> tuple[str, ...]:
    """Return, sorted, the signs of folded text that change what its words mean.

    These are question marks, per cent, symbols (signs of mathematics, currencies, emoji), quotation marks, all kinds
    alike, and what separates the digits of a number.
    """
    spans = word_spans(folded)
    ends, starts = (0, *(end for _, end in spans)), (*(start for start, _ in spans), len(folded))
    return tuple(sorted(sign for end, start in zip(ends, starts, strict=True) for sign in _signs(folded, end, start)))


def _signs(folded: str, start: int, end: int) -> Iterator[str]:
    gap = folded[start:end]
    if len(gap) == 1 and folded[start - 1 : start].isdigit() and folded[end : end + 1].isdigit():
        yield "-" if gap in _DASHES else gap
        return
    for sign in gap:
        if sign in _QUOTES or unicodedata.category(sign) in ("Pi", "Pf"):
            yield '"'
        elif sign in _QUESTION | _PERCENT or unicodedata.category(sign).startswith("S"):
            yield sign


def _introduces(intro: tuple[str, ...], folded: str, named: frozenset[str], language: str) -> bool:
    if not intro:
        return True
    told = content(intro, language)
    return bool(told) and told <= named and not negated(folded, language)
