"""Measure how well texts are ordered, by their grades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from models.embed import Embedder
from training.reranking.pairs import RankingQuestion

SHOWN = 3
Scores = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""A function that returns a score for each pair of query and text."""


@dataclass(frozen=True)
class Ordering:
    """How well texts were ordered, as means over questions.

    `best_first` is the share of questions with a text of the best grade in front, `ndcg` the gain of the first SHOWN
    texts relative to the best order (Järvelin and Kekäläinen 2002), and `loss` InfoNCE of the best text against the
    others.
    """

    questions: int
    best_first: float
    ndcg: float
    loss: float


def measure(questions: Sequence[RankingQuestion], scores: Scores) -> Ordering:
    """Return the figures of the order that `scores` gives to the texts of one or more questions."""
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
    """Return the figures of the order by an embedder's cosines, which a reranker has to beat."""
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
    """Return InfoNCE: the negative log probability of the text with the best grade, the first if there are several."""
    shifted = scores - scores.max()
    return float(np.log(np.exp(shifted).sum()) - shifted[int(np.argmax(grades))])
