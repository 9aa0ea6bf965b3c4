"""Find the cues by which a sentence speaks for or against a hateful claim."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from pipeline.languages import pack

_WORD = re.compile(r"[\w']+")
BREAK = re.compile(r"[,.;:!?…\n]")
"""What ends a stretch of text: a stop, a comma, or the end of a line."""
NEAR = 2
"""Words on either side of a phrase within which a negation reverses it."""
LONGEST_WORD = 30


@lru_cache(maxsize=256)
def pattern(language: str, kind: str) -> re.Pattern[str]:
    """Return the pattern of one kind of cue in `language` (a field of `Stance`), over folded text."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(getattr(pack(language).stance, kind))})")


@lru_cache(maxsize=256)
def word_pattern(language: str, kind: str) -> re.Pattern[str]:
    """Return the pattern of one kind of cue, ending where a word ends."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(getattr(pack(language).stance, kind))})(?!\w)")


@lru_cache(maxsize=32)
def _clause(language: str) -> re.Pattern[str]:
    return re.compile(rf"[,;:()]|\s[-–—]+\s|\b(?:{'|'.join(pack(language).conjunctions)})\b")


@lru_cache(maxsize=32)
def _negation(language: str) -> re.Pattern[str]:
    stance = pack(language).stance
    return re.compile("|".join([rf"(?<!\w)(?:{'|'.join(stance.negation)})(?!\w)", *stance.contracted_negation]))


def negated(text: str, language: str) -> bool:
    """Tell whether folded `text` holds a negation."""
    return bool(_negation(language).search(text))


@lru_cache(maxsize=512)
def clauses(text: str, language: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the clauses of folded `text`, cut at commas and conjunctions."""
    cuts = [match.span() for match in _clause(language).finditer(text)]
    starts = [0, *(end for _, end in cuts)]
    return tuple(zip(starts, [*(start for start, _ in cuts), len(text)], strict=True))


def clause_of(text: str, position: int, language: str) -> tuple[int, int]:
    """Return the span of the clause around `position` in folded `text`, cut at commas and conjunctions."""
    spans = clauses(text, language)
    return spans[max(0, bisect_right(spans, (position, len(text) + 1)) - 1)]


def before(text: str, position: int, count: int, language: str) -> str:
    """Return up to `count` words before `position`, within its clause."""
    start, _ = clause_of(text, position, language)
    preceding = list(_WORD.finditer(text, max(start, position - count * LONGEST_WORD), position))[-count:]
    return text[preceding[0].start() : position] if preceding else ""


def after(text: str, position: int, count: int, language: str) -> str:
    """Return up to `count` words from `position` on, within its clause."""
    _, end = clause_of(text, position, language)
    following = list(islice(_WORD.finditer(text, position, end), count))
    return text[position : following[-1].end()] if following else ""


def is_negated_nearby(text: str, start: int, end: int, reach: int, language: str) -> bool:
    """Tell whether a span is negated within `reach` words, on the sides where the language puts negations."""
    position = pack(language).order.negation
    return (position != "after" and negated(before(text, start, reach, language), language)) or (
        position != "before" and negated(after(text, end, reach, language), language)
    )


def agreements(text: str, language: str) -> Iterator[str]:
    """Yield the phrases with which folded `text` endorses a post; negations that reverse a phrase are considered."""
    opening = pattern(language, "opening").match(text.lstrip("\"'“«¡¿ "))
    if opening:
        yield opening.group()
    for match in pattern(language, "endorsing_despite_negation").finditer(text):
        yield match.group()
    for match in pattern(language, "agreement").finditer(text):
        if not negated(match.group(), language) and not is_negated_nearby(text, *match.span(), NEAR, language):
            yield match.group()
    for match in pattern(language, "debunk").finditer(text):
        if not negated(match.group(), language) and is_negated_nearby(text, *match.span(), NEAR, language):
            yield f"{before(text, match.start(), NEAR, language)}{match.group()}"


@lru_cache(maxsize=512)
def refutations(text: str, language: str) -> tuple[int, ...]:
    """Return the positions in folded `text` of cues that refute a claim or ask for its grounds, ascending."""
    places = [match.start() for match in pattern(language, "doubt").finditer(text)]
    for match in pattern(language, "refutation").finditer(text):
        plainly = negated(match.group(), language) or not is_negated_nearby(text, *match.span(), NEAR, language)
        if plainly or not pattern(language, "debunk").match(match.group()):
            places.append(match.start())
    return tuple(sorted(places))


def framed(text: str, position: int, language: str) -> bool:
    """Tell whether the text at `position` is refuted or doubted, by a cue before it or in its own clause."""
    _, end = clause_of(text, position, language)
    return any(start < end for start in refutations(text, language)[:1])
