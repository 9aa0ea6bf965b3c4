"""Measure an order of texts by the grades that they have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from models.embed import Embedder
from training.reranking.pairs import RankingQuestion

SHOWN = 3
Scores = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""What gives pairs of query and text a score each."""


@dataclass(frozen=True)
class Ordering:
    """How well texts were ordered, each the mean over questions.

    `best_first` is the share of questions with a best text in front, `ndcg` the gain of the first SHOWN texts beside
    that of the best order (Järvelin and Kekäläinen 2002), and `loss` InfoNCE of the best text against the others.
    """

    questions: int
    best_first: float
    ndcg: float
    loss: float


def measure(questions: Sequence[RankingQuestion], scores: Scores) -> Ordering:
    """Return the figures of what `scores` makes of at least one question."""
    given = iter(scores([(question.query, text) for question in questions for text in question.texts]))
    rows = [np.array([next(given) for _ in question.texts], np.float64) for question in questions]
    grades = [np.array(question.grades) for question in questions]
    return Ordering(
        len(questions),
        fmean(float(grade[np.argmax(row)] == grade.max()) for row, grade in zip(rows, grades, strict=True)),
        fmean(_ndcg(row, grade) for row, grade in zip(rows, grades, strict=True)),
        fmean(_loss(row, grade) for row, grade in zip(rows, grades, strict=True)),
    )


async def measure_embedder(questions: Sequence[RankingQuestion], embedder: Embedder) -> Ordering:
    """Return the figures of the order by cosine: what a reranker has to beat."""
    asked = list({question.query: None for question in questions})
    shown = list({text: None for question in questions for text in question.texts})
    queries = dict(zip(asked, await embedder.queries(asked), strict=True))
    passages = dict(zip(shown, await embedder.passages(shown), strict=True))
    return measure(questions, lambda pairs: [float(queries[query] @ passages[text]) for query, text in pairs])


def _ndcg(scores: np.ndarray, grades: np.ndarray) -> float:
    discounts = 1 / np.log2(np.arange(2, SHOWN + 2))
    gained = grades[np.argsort(-scores, kind="stable")][:SHOWN]
    best = np.sort(grades)[::-1][:SHOWN]
    return float((gained * discounts[: len(gained)]).sum() / (best * discounts[: len(best)]).sum())


def _loss(scores: np.ndarray, grades: np.ndarray) -> float:
    """Return InfoNCE: the surprise at the best text, of several the first."""
    shifted = scores - scores.max()
    return float(np.log(np.exp(shifted).sum()) - shifted[int(np.argmax(grades))])
