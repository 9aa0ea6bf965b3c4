"""Words that were stored in English by workers and decisions of before, said in the language of the moment.

What is written into the ledger or raised below the desk has a fixed set of wordings, which stand here as messages with
places. A text that fits one of them is said anew from the catalogue; any other, such as a moderator's own words, stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from bot.translation import N_, SOURCE_LANGUAGE, _, language

WORDINGS = (
    N_("approved draft {number}"),
    N_("edited"),
    N_("checks overridden"),
    N_("the post stayed covered"),
)
_PLACE = re.compile(r"\\\{(\w+)\\\}")


def in_other_words(text: str) -> str:
    """Return a stored text in the language of the moment; one made of several parts is looked at part by part."""
    if language() == SOURCE_LANGUAGE or not text:
        return text
    whole = _said_anew(text)
    if whole is not None:
        return whole
    parts = text.split("; ")
    return "; ".join(_said_anew(part) or part for part in parts) if len(parts) > 1 else text


def _said_anew(text: str) -> str | None:
    for message, pattern in _patterns():
        if match := pattern.fullmatch(text):
            return _(message, **match.groupdict())
    return None


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(_compiled())


def _compiled() -> Iterator[tuple[str, re.Pattern[str]]]:
    for message in WORDINGS:
        pattern = _PLACE.sub(r"(?P<\1>(?:(?!; ).)+?)", re.escape(message))
        yield message, re.compile(pattern, re.DOTALL)
