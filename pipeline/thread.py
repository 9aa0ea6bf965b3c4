"""Find whom a post means by "they" in the earlier posts of its thread."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from core.domain import GroupScore
from pipeline.guard.words import fold
from pipeline.heads import SURE, Scores
from pipeline.languages import DEFAULT, has_pack, pack
from pipeline.normalise import normalise

NEAREST = 3
"""Earlier posts that are read, the nearest first; each costs as much as the post itself."""
FEWEST_CHARACTERS = 40
"""Room that an earlier post needs beside the post; in less, it could say nothing."""
SHOWN = 0.2
"""By how much an earlier post must make a group likelier, so that it is what names it."""


def means_others(text: str, language: str, groups: Sequence[GroupScore]) -> bool:
    """Tell whether a post speaks of people by a word like "they", and none of the groups that it attacks is sure.

    A post without `groups` attacks nobody.
    """
    return bool(groups) and groups[0].score < SURE and bool(_refers_back(language).search(fold(text)))


def with_earlier(text: str, context: Sequence[str], longest: int) -> Iterator[str]:
    """Yield the normalised `text` after each of the NEAREST earlier posts, the oldest of which is first in `context`.

    Each is at most `longest` characters; the earlier post loses words at its beginning. A post that leaves less than
    FEWEST_CHARACTERS yields none.
    """
    room = longest - len(text) - 1
    if room < FEWEST_CHARACTERS:
        return
    for earlier in reversed(context[-NEAREST:]):
        before = normalise(earlier)
        if len(before) > room:
            before = before[-room:].partition(" ")[2]
        if before:
            yield f"{before}\n{text}"


def shown(alone: Scores, together: Scores) -> tuple[GroupScore, ...]:
    """Return the groups that a post attacks beyond doubt when read `together` with an earlier one that names them."""
    surely = (group for group, score in together.groups.items() if score >= max(SURE, alone.groups[group] + SHOWN))
    scores = [GroupScore(group=group, score=round(together.groups[group], 4)) for group in surely]
    return tuple(sorted(scores, key=lambda each: -each.score))


@lru_cache
def _refers_back(language: str) -> re.Pattern[str]:
    patterns = pack(language if has_pack(language) else DEFAULT).refers_back
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)")
