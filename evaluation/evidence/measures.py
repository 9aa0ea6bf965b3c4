"""Measure a way of finding evidence by the grades of the first three texts it finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.evidence.yardstick import FITS, Grades, Post, fitting

SHOWN = 3
Results = Mapping[str, Sequence[str]]
"""The ids of the texts found for each post, best first, by post id."""


@dataclass(frozen=True)
class Figures:
    """The figures of one way of finding evidence on some posts; a share of nothing is NaN.

    - `hit`: among posts with fitting evidence, the share that get a fitting text among the first three
    - `grade`: the mean grade of the texts shown
    - `wrong`: the share of grades of the texts shown that are 0
    - `none_precision`, `none_recall`: how well "nothing found" matches "no fitting evidence exists"
    - `magnet`: the largest share of a group's results taken by one text, `magnet_text`
    - `ungraded`: the number of texts shown that nobody graded; they count in no other figure but `magnet`
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
    """Return the figures of the results; texts in `exempt` are never counted as magnets."""
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
    """Return the largest share that one text takes of a group's results, and that text."""
    counts: dict[str, Counter[str]] = {}
    for post in posts:
        for group in post.groups:
            counts.setdefault(group, Counter()).update(results.get(post.id, ())[:SHOWN])
    worst = (0.0, "")
    for texts in counts.values():
        # With only a handful of results, a large share may be chance.
        for text, count in texts.items() if texts.total() >= 5 * SHOWN else ():
            if text not in exempt:
                worst = max(worst, (count / texts.total(), text))
    return worst
