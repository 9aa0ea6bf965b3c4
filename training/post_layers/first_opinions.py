"""Form the first opinions on lessons: what triage and matching make of their texts before a model's opinion counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files as package_files

import numpy as np

from core.settings import KnowledgeBaseSettings, TriageSettings
from kb.claims.judge import shipped_judge
from kb.claims.loading import load_claims
from kb.claims.matching import ClaimMatcher, embedded
from kb.claims.reviews import load_reviews
from kb.claims.second_opinion import NAMES, shipped_opinion
from models.embed import Vectors
from models.embedders import default_embedder
from pipeline.heads import COUNTER, HATE, Heads
from pipeline.second_opinion import THREAT, SecondOpinion
from pipeline.threats import ThreatHead
from training.claims.data import groups_of
from training.post_layers.lessons import Lesson
from training.post_layers.opinions import First


async def read_first(lessons: Sequence[Lesson], *, with_layers: bool) -> list[tuple[First, Vectors | None]]:
    """Return the first opinion on each lesson, and the reading of the layers for posts; None for a long text.

    `with_layers` says whether the shipped opinion of those layers counts. Everything is computed with shipped models.
    """
    embedder, heads, threats, layers = default_embedder(), Heads.load(), ThreatHead.load(), SecondOpinion.load()
    claims, threshold = load_claims(), TriageSettings().group_threshold
    wordings, vectors = await embedded(claims, embedder)
    reviews = load_reviews(package_files("kb"))
    of_layers = [shipped_opinion(NAMES[0])] if with_layers else []
    matcher = ClaimMatcher(
        claims, reviews, wordings, vectors, shipped_judge(), KnowledgeBaseSettings(), opinions=of_layers
    )
    read = []
    for lesson in lessons:
        reading = await embedder.read(lesson.text)
        summed = reading.summed if with_layers else None
        scores = heads.score(reading.vector, lesson.text, reading.tokens)
        threat = {THREAT: threats.score(lesson.text, reading.vector)}
        if summed is not None:
            scores, threat = scores.beside(layers, summed), layers.beside(threat, summed)
        opinions = {group.value: score for group, score in scores.groups.items()} | {HATE: scores.hate}
        first = First(opinions | {COUNTER: scores.counter} | threat)
        if lesson.claims is not None:
            groups = (
                [score.group for score in scores.attacked(threshold)]
                if with_layers
                else groups_of(lesson.text, reading.vector, heads)
            )
            judged = matcher.read(lesson.text, reading.vector, groups, lesson.language, (summed,))
            probabilities = np.array([judged.claims[name] for name in claims.claims], np.float32)
            first = replace(first, claims=probabilities, answerable=judged.answerable)
        read.append((first, reading.summed))
    await embedder.close()
    return read
