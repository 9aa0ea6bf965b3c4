"""What a way of finding evidence is worth, by the grades that its first three texts got."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.evidence.yardstick import FITS, Grades, Post, fitting

SHOWN = 3
Results = Mapping[str, Sequence[str]]
"""The ids of the texts that a way gives for each post, best first."""


@dataclass(frozen=True)
class Figures:
    """How a way did on some posts; a share of nothing is NaN.

    `hit` is the share of posts with fitting evidence that get a fitting text among the first three, `grade` the mean
    of what is shown, and `wrong` the share of it that readers call wrong. `none_precision` and `none_recall` are of
    "no fitting evidence". `magnet` is the largest share of a group's results that one text has. Texts that nobody
    graded are counted (`ungraded`) and left out of the rest.
    """

    posts: int
    hit: float
    grade: float
    wrong: float
    none_precision: float
    none_recall: float
    ungraded: int
    magnet: float
    magnet_text: str


def measure(posts: Sequence[Post], results: Results, grades: Grades, exempt: frozenset[str] = frozenset()) -> Figures:
    """Return the figures; texts in `exempt` are no magnets."""
    hits, silent_right, silent, unanswerable = [], 0, 0, 0
    means, wrongs, ungraded = [], [], 0
    for post in posts:
        shown = results.get(post.id, ())[:SHOWN]
        grades_shown = [grades[post.id, text] for text in shown if (post.id, text) in grades]
        ungraded += len(shown) - len(grades_shown)
        means += [float(np.mean(readers)) for readers in grades_shown]
        wrongs += [float(np.mean([grade == 0 for grade in readers])) for readers in grades_shown]
        answerable = fitting(post, grades)
        if answerable:
            hits.append(any(float(np.mean(readers)) >= FITS for readers in grades_shown))
        silent += not shown
        unanswerable += not answerable
        silent_right += not shown and not answerable
    share, text = _magnet(posts, results, exempt)
    return Figures(
        len(posts),
        _mean(hits),
        _mean(means),
        _mean(wrongs),
        silent_right / silent if silent else float("nan"),
        silent_right / unanswerable if unanswerable else float("nan"),
        ungraded,
        share,
        text,
    )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _magnet(posts: Sequence[Post], results: Results, exempt: frozenset[str]) -> tuple[float, str]:
    """Return the largest share that one text has of a group's results, and the text."""
    counts: dict[str, Counter[str]] = {}
    for post in posts:
        for group in post.groups:
            counts.setdefault(group, Counter()).update(results.get(post.id, ())[:SHOWN])
    worst = (0.0, "")
    for texts in counts.values():
        # A share of a handful of results says nothing.
        for text, count in texts.items() if texts.total() >= 5 * SHOWN else ():
            if text not in exempt:
                worst = max(worst, (count / texts.total(), text))
    return worst
