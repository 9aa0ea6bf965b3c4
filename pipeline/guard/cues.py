"""Find in a sentence the cues that tell for or against a hateful claim."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from pipeline.guard.lexicon import stance

_CLAUSE = re.compile(
    r"[,;:()]|\s[-–—]+\s|\b(?:and|because|since|but|while|whereas|although|though|as|pero|porque|perche|ma|mais|car|"
    r"parce que|und|aber|weil|sondern)\b"
)
_WORD = re.compile(r"[\w']+")


@lru_cache(maxsize=256)
def pattern(language: str, kind: str) -> re.Pattern[str]:
    """Return the pattern of one kind of cue in `language` (see `data/stance.toml`), over folded text."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(stance(language)[kind])})")


@lru_cache(maxsize=256)
def whole(language: str, kind: str) -> re.Pattern[str]:
    """Return the pattern of one kind of cue, ending where a word ends."""
    return re.compile(rf"(?<!\w)(?:{'|'.join(stance(language)[kind])})(?!\w)")


@lru_cache(maxsize=32)
def _negation(language: str) -> re.Pattern[str]:
    plain = [word for word in stance(language)["negation"] if not word.startswith("n'") and not word.endswith("'")]
    return re.compile(
        rf"(?<!\w)(?:{'|'.join(plain)})(?!\w)|n't(?!\w)|(?<!\w)n'(?=\w)"
        if language in {"en", "fr"}
        else rf"(?<!\w)(?:{'|'.join(plain)})(?!\w)"
    )


def negated(text: str, language: str) -> bool:
    """Tell whether folded `text` holds a negation."""
    return bool(_negation(language).search(text))


@lru_cache(maxsize=512)
def clauses(text: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the clauses of folded `text`, cut at commas and conjunctions."""
    cuts = [match.span() for match in _CLAUSE.finditer(text)]
    starts = [0, *(end for _, end in cuts)]
    return tuple(zip(starts, [*(start for start, _ in cuts), len(text)], strict=True))


def clause_of(text: str, position: int) -> tuple[int, int]:
    """Return the span of the clause around `position` in folded `text`, cut at commas and conjunctions."""
    spans = clauses(text)
    return spans[max(0, bisect_right(spans, (position, len(text) + 1)) - 1)]


def before(text: str, position: int, count: int) -> str:
    """Return up to `count` words before `position`, within its clause."""
    start, _ = clause_of(text, position)
    found = list(_WORD.finditer(text, max(start, position - count * 30), position))[-count:]
    return text[found[0].start() : position] if found else ""


def agreements(text: str, language: str) -> Iterator[str]:
    """Yield phrases with which folded `text` endorses a post, those under a negation left out."""
    opening = pattern(language, "opening").match(text.lstrip("\"'“«¡¿ "))
    if opening:
        yield opening.group()
    for match in pattern(language, "insists").finditer(text):
        yield match.group()
    for match in pattern(language, "agreement").finditer(text):
        if not negated(match.group(), language) and not negated(before(text, match.start(), 2), language):
            yield match.group()
    for match in pattern(language, "debunk").finditer(text):
        if not negated(match.group(), language) and negated(before(text, match.start(), 2), language):
            yield f"{before(text, match.start(), 2)}{match.group()}"


@lru_cache(maxsize=512)
def refutations(text: str, language: str) -> tuple[int, ...]:
    """Return where in folded `text` a cue says that a claim does not hold, or asks for its grounds; ascending."""
    found = [match.start() for match in pattern(language, "doubt").finditer(text)]
    for match in pattern(language, "refutation").finditer(text):
        plainly = negated(match.group(), language) or not negated(before(text, match.start(), 2), language)
        if plainly or not pattern(language, "debunk").match(match.group()):
            found.append(match.start())
    return tuple(sorted(found))


def framed(text: str, position: int, language: str) -> bool:
    """Tell whether what stands at `position` is refuted or doubted: a cue comes before it or in its own clause."""
    _, end = clause_of(text, position)
    return any(start < end for start in refutations(text, language)[:1])
