"""Find whom a post means by "they" in the earlier posts of its thread."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from core.domain import GroupScore
from pipeline.guard.words import fold
from pipeline.heads import SURE
from pipeline.languages import DEFAULT, has_pack, pack
from pipeline.normalise import normalise

NEAREST = 3
"""Earlier posts that are read, the nearest first; each costs as much as the post itself."""


def means_others(text: str, language: str, groups: Sequence[GroupScore]) -> bool:
    """Tell whether a post speaks of people but does not name them, as the `groups` found in it show."""
    return bool(groups) and groups[0].score < SURE and bool(_refers_back(language).search(fold(text)))


def with_earlier(text: str, context: Sequence[str], longest: int) -> Iterator[str]:
    """Yield the normalised `text` after each of the NEAREST earlier posts, the oldest of which is first in `context`.

    Each is at most `longest` characters; the earlier post is cut at its beginning. A post as long as that yields none.
    """
    for earlier in reversed(context[-NEAREST:]):
        room = longest - len(text) - 1
        if room > 0 and (before := normalise(earlier)[-room:]):
            yield f"{before}\n{text}"


def surely_meant(groups: Sequence[GroupScore]) -> tuple[GroupScore, ...]:
    """Return the groups that a post and an earlier one leave no doubt about."""
    return tuple(score for score in groups if score.score >= SURE)


@lru_cache
def _refers_back(language: str) -> re.Pattern[str]:
    patterns = pack(language if has_pack(language) else DEFAULT).refers_back
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b")
