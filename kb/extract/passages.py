"""The common form into which every reader turns its file: passages, in reading order."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_SPACES = re.compile(r"\s+")
_UNSEEN = re.compile(r"[\u200b-\u200d\u2060\ufeff\u00ad]")


@dataclass(frozen=True)
class Passage:
    """A heading or a piece of running text.

    `page` counts from 1 and is 0 if the format has no pages. `place` is a citation that the reader is sure of, such as
    `Article 7`; it is empty if the place is still to be found.
    """

    text: str
    page: int = 0
    heading: bool = False
    place: str = ""


@dataclass(frozen=True)
class Reading:
    """What a reader found in a file; `notes` say what could not be read, and what to do about it."""

    passages: tuple[Passage, ...]
    notes: tuple[str, ...] = ()
    pages: int = 0
    scanned: int = 0


Reader = Callable[[bytes, str], Reading]
"""Reads a file's bytes; the second argument is the expected language, ISO 639-1, or empty."""


def tidy(text: str) -> str:
    """Collapse white space and drop invisible characters."""
    return _SPACES.sub(" ", _UNSEEN.sub("", text)).strip()


def reading_of(passages: Sequence[Passage]) -> Reading:
    """Return a reading of these passages, without the empty ones."""
    return Reading(tuple(passage for passage in passages if passage.text))
