"""Measure how reliable the probabilities of hate are, by language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from core.settings import TriageSettings
from kb.claims.records import LANGUAGES
from models.embed import Vectors
from pipeline.heads import HATE
from training.heads.data import REAL
from training.heads.sample import Part
from training.post_layers.lessons import CLAIM_TWINS, OWN_POSTS, Lesson

SURE = 0.8
"""A probability that parts the posts that get a draft."""
_MEASURED = (
    ("flagged posts", {REAL}, "en"),
    *(("twins and own posts", {CLAIM_TWINS, OWN_POSTS}, language) for language in LANGUAGES),
)
"""What is measured: what it is called, its origins and its language."""


def reliability_rows(lessons: Sequence[Lesson], chances: Vectors) -> Iterator[str]:
    """Yield a row for each language and range of probability: texts, their mean probability, the share hateful.

    `chances`, shape (lessons,), are the probabilities of hate; only lessons that are reported on count.
    """
    truth = np.array([each.opinions.get(HATE, (False, 0.0))[0] for each in lessons], np.bool_)
    for title, origins, language in _MEASURED:
        settings = TriageSettings().in_language(language)
        edges = (0.0, settings.dismiss_below, settings.doubt_below, SURE, 1.0)
        counted = np.array([
            each.origin in origins and each.language == language and each.part is Part.REPORT and HATE in each.opinions
            for each in lessons
        ])  # fmt: skip
        for low, high in pairwise(edges):
            part = counted & (chances >= low) & ((chances < high) | (high == edges[-1]))
            if part.any():
                mean, share = float(chances[part].mean()), float(truth[part].mean())
                yield f"| {title} | {language} | {low:g} to {high:g} | {part.sum()} | {mean:.2f} | {share:.2f} |"
