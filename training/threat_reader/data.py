"""Choose the lessons of the reader of threats from those of the layers for posts."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path

from kb.claims.loading import load_claims
from pipeline.second_opinion import THREAT
from pipeline.threat_reader import LANGUAGES
from training.heads.sample import Part
from training.post_layers.lessons import Lesson, read_lessons, thinned

KEPT = {"wording": 0.35, "written": 0.7, "claim twins": 0.55, "own posts": 0.8, "HatemojiCheck": 0.7, "Hatemoji": 0.8}
"""Share of an origin's texts without a threat that is trained on, for origins whose texts repeat themselves."""


def read_threat_lessons(data: Path, root: Path) -> tuple[list[Lesson], list[Lesson]]:
    """Return the English lessons on threats: those to train on, and those that are kept apart."""
    lessons = read_lessons(data, load_claims(), root / "kb" / "claims")
    apart = [lesson for lesson in lessons if lesson.part is not Part.TRAIN and _on_threats(lesson)]
    return taught(thinned(lessons)), apart


def taught(lessons: Iterable[Lesson]) -> list[Lesson]:
    """Return the English lessons on threats, with only a share of others from the origins in KEPT."""
    return [lesson for lesson in lessons if _on_threats(lesson) and _is_drawn(lesson)]


def _on_threats(lesson: Lesson) -> bool:
    return lesson.language in LANGUAGES and THREAT in lesson.opinions


def _is_drawn(lesson: Lesson) -> bool:
    threatens, _ = lesson.opinions[THREAT]
    drawn = zlib.crc32(f"k{lesson.text}".encode("utf-8", "replace")) % 1000
    return threatens or drawn < 1000 * KEPT.get(lesson.origin, 1.0)
