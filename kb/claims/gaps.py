"""Group similar posts that nothing on file answers, so that a curator sees what is missing most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from kb.claims.matching import ClaimMatcher
from kb.query import Vectors

ALIKE = 0.45
"""Centred cosine from which two posts are grouped; chosen by eye on flagged posts of the training side."""
MOST_EXAMPLES = 5


class Unanswered(NamedTuple):
    """A case without an answer on file: its key, the group its post attacks, the post's embedding and language."""

    case: str
    group: str
    vector: Vectors
    language: str = "en"


@dataclass(frozen=True)
class Gap:
    """A heap of similar posts, the claim on file that is nearest to them, and how near it is, 1 at most."""

    count: int
    group: str
    nearest: str
    nearness: float
    cases: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the gap as a dictionary for JSON."""
        return asdict(self)


def heaps(unanswered: Iterable[Unanswered], matcher: ClaimMatcher) -> list[Gap]:
    """Return heaps of similar posts, the largest first; each post joins the first heap whose first post is like it."""
    piled: list[tuple[Vectors, list[Unanswered]]] = []
    for post in unanswered:
        unit = matcher.centred(post.vector, post.language)
        for first, pile in piled:
            if pile[0].group == post.group and float(first @ unit) >= ALIKE:
                pile.append(post)
                break
        else:
            piled.append((unit, [post]))
    gaps = [_gap(pile, matcher) for _, pile in piled]
    return sorted(gaps, key=lambda gap: (-gap.count, gap.group, gap.cases))


def _gap(pile: Sequence[Unanswered], matcher: ClaimMatcher) -> Gap:
    nearest = [matcher.nearest(post.vector, post.language) for post in pile]
    name, _ = Counter(claim for claim, _ in nearest).most_common(1)[0]
    nearness = float(np.mean([near for claim, near in nearest if claim == name]))
    examples = tuple(post.case for post in pile[:MOST_EXAMPLES])
    return Gap(len(pile), pile[0].group, name, round(nearness, 3), examples)
