"""Read shares and round figures that say in words what the evidence says in digits: "nearly half" for 47 %."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.guard.figures import Figure, word_value

_NEARLY = re.compile(
    r"\b(?:almost|nearly|about|around|roughly|some|close to|over|more than|casi|cerca de|alrededor de|unos|mas de|"
    r"quasi|circa|oltre|piu di|ia|gutxi gorabehera)\s(?:(?:a|an|one|the|un|una|uno|la|el|il|dei|delle)\s)?$"
)
_OUT_OF = re.compile(
    r"\b(\w+)\s(?:\w+\s)?(?:in|out of|de cada|(?:di|in) ogni|su)\s(?:every\s)?(\w+)\b|"
    r"\b(?P<whole>\w+?)(?:e?tatik|tik) (?P<part>\w+)\b"
)
_FRACTION = re.compile(
    r"\b(?:(?P<count>two|three|dos|tres|due|tre|bi|hiru)\s)?(?:"
    r"(?P<half>half|mitad|meta|erdi\w*)|(?P<third>thirds?|terci\w+|tercera|terz[oi]|heren\w*)|"
    r"(?P<quarter>quarters?|cuart[oa]s?|quart[oi]|laurden\w*)|(?P<fifth>fifths?|quint[oa]s?|quint[oi]|bosten\w*))\b"
)
_OF = {"half": 2, "third": 3, "quarter": 4, "fifth": 5}
EXACT, NEAR = 1.0, 6.0
"""Percentage points that a share in words may differ by: "a third" is 33 %, "nearly half" 47 %."""
ROUNDED = 0.05
"""Part of a figure by which a round one after "almost" or "about" may differ."""


def accounted(text: str, written: tuple[Figure, ...], language: str, known: set[Figure]) -> set[str]:
    """Return the wordings of those figures of a folded `text` that stand for one of the `known` ones."""
    percentages = [figure.value for figure in known if figure.percent]
    explained = {
        word
        for words, share, start in (*_out_of(text, language), *_fractions(text))
        if any(abs(share - value) <= (NEAR if _NEARLY.search(text[:start]) else EXACT) for value in percentages)
        for word in words
    }
    for figure in written:
        start = text.find(figure.text)
        same = [other.value for other in known if other.percent is figure.percent]
        if _NEARLY.search(text[:start]) and any(abs(figure.value - value) <= ROUNDED * value for value in same):
            explained.add(figure.text)
    return explained


def _out_of(text: str, language: str) -> Iterator[tuple[tuple[str, ...], float, int]]:
    """Yield the two number words of "three out of four", what that is in percent, and where it starts."""
    for match in _OUT_OF.finditer(text):
        part, whole = (match[1], match[2]) if match[1] else (match["part"], match["whole"])
        first, second = word_value(part, language), word_value(whole, language)
        if first and second and first <= second:
            yield (part, whole), 100 * first / second, match.start()


def _fractions(text: str) -> Iterator[tuple[tuple[str, ...], float, int]]:
    """Yield the words of "two thirds", what that is in percent, and where it starts."""
    for match in _FRACTION.finditer(text):
        divisor = next(_OF[name] for name in _OF if match[name])
        count = {"two": 2, "dos": 2, "due": 2, "bi": 2, None: 1}.get(match["count"], 3)
        words = tuple(match.group().split())
        if count < divisor:
            yield words, 100 * count / divisor, match.start()
