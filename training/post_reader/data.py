"""Choose the lessons of the reader of posts from those of the layers for posts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from pathlib import Path

from evaluation.evidence.yardstick import FRESH, FreshPost, Post, read_fresh, read_posts
from kb.claims.loading import load_claims
from pipeline.normalise import normalise
from pipeline.post_reader import LANGUAGES
from training.claims.data import read_labelled
from training.heads.data import SHORT, letters
from training.heads.sample import Part
from training.post_layers.lessons import Lesson, lesson_of, read_lessons, thinned

LABELS = Path(__file__).with_name("labels.tsv")
"""Posts labelled with the claims that they make, besides those of the layers for posts."""


def read_post_lessons(data: Path, root: Path) -> tuple[list[Lesson], list[Lesson]]:
    """Return the English lessons: those to train on, each text once, and those that are kept apart."""
    files = load_claims()
    read = read_lessons(data, files, root / "kb" / "claims")
    apart = [lesson for lesson in read if lesson.part is not Part.TRAIN]
    yardstick: list[Post | FreshPost] = [*read_posts(data), *chain(*(read_fresh(files, name) for name in FRESH))]
    measured = {letters(lesson.text) for lesson in apart} | {letters(normalise(post.text)) for post in yardstick}
    labelled = [lesson_of(post, "labels", Part.TRAIN) for post in read_labelled(data, LABELS)]
    # The labels come first: whose claims are known, is read more often.
    taught = merged(thinned([*labelled, *(lesson for lesson in read if lesson.language in LANGUAGES)]))
    return (
        [lesson for lesson in taught if len(lesson.text) <= SHORT or letters(lesson.text) not in measured],
        [lesson for lesson in apart if lesson.language in LANGUAGES],
    )


def merged(lessons: Iterable[Lesson]) -> list[Lesson]:
    """Return one lesson for each text, with all answers that are known; those of a lesson with claims count first."""
    by_text: dict[str, Lesson] = {}
    for lesson in lessons:
        before = by_text.get(lesson.text)
        if before is None:
            by_text[lesson.text] = lesson
            continue
        more, less = (lesson, before) if before.kind is None and before.claims is None else (before, lesson)
        by_text[lesson.text] = replace(more, opinions={**less.opinions, **more.opinions})
    return list(by_text.values())
