"""Condense the tuned layers' output into readings, and fit its weight beside the first opinions. Needs scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from kb.claims.second_opinion import ClaimOpinion, claim_features, log_odds
from models.e5_tuned import SUMMED
from models.embed import Vectors
from pipeline.second_opinion import THREAT, SecondOpinion
from training.heads.data import REAL
from training.heads.sample import Part
from training.post_layers.lessons import UNSEEN_ORIGIN, Lesson

ALIKE = (0.5, 0.5)
"""Weights of first and second opinion, where no others are given."""
MOST = 3.0
"""How much more closely readings preserve the answer to a question of triage than the share of a claim."""


@dataclass(frozen=True)
class Sums:
    """The maps from pooled states to a reading of SUMMED numbers, and from a reading to the logits of all heads.

    `summed` (SUMMED, pooled) and `bias` (SUMMED,) give a reading. `back` (outputs, SUMMED) and `centre` (outputs,)
    give the logits, in the heads' original order.
    """

    summed: Vectors
    bias: Vectors
    back: Vectors
    centre: Vectors


@dataclass(frozen=True)
class Shares:
    """Weights of first and second opinion: of `opinions` by head, and for whether anything on file answers (`gate`).

    Those of opinions are scaled afterwards; the gate's have a constant and stay as they are.
    """

    opinions: Mapping[str, tuple[float, float]]
    gate: tuple[float, float, float]


@dataclass(frozen=True)
class First:
    """The first opinions on a text: probabilities by head, and of claims and an answer if these are labelled."""

    opinions: Mapping[str, float]
    claims: Vectors | None = None
    answerable: float = 0.0


def sum_up(weights: Vectors, bias: Vectors, scale: Vectors, pooled: Vectors) -> Sums:
    """Return the projection to SUMMED numbers that best preserves the heads' logits on `pooled`, shape (n, pooled).

    `weights` (outputs, pooled) and `bias` (outputs,) are the heads, `scale` (outputs,) is the importance of each.
    """
    logits = pooled @ weights.T + bias
    centre = logits.mean(axis=0)
    directions = np.linalg.svd((logits - centre) * scale, full_matrices=False)[2][:SUMMED].T
    forward = directions.T * scale
    parts = forward @ weights, forward @ (bias - centre), directions / scale[:, np.newaxis], centre
    return Sums(*(np.asarray(part, np.float32) for part in parts))


def fit_opinion(
    names: Sequence[str], weights: Vectors, bias: Vectors, lessons: Sequence[Lesson], firsts: Sequence[First],
    readings: Vectors, given: Shares,
) -> SecondOpinion:  # fmt: skip
    """Return the second opinion, calibrated jointly with the first on posts that neither was trained on.

    Threats are calibrated on the unseen posts that were labelled with claims, all else on the calibration part's flags.
    A head with fewer than five examples of either answer there keeps its shares uncalibrated.
    """
    logits = readings @ weights.T + bias
    first = log_odds(np.array([[each.opinions[name] for name in names] for each in firsts], np.float32))
    shares = np.zeros((len(names), 3), np.float32)
    for column, name in enumerate(names):
        rows = [row for row, lesson in enumerate(lessons) if name in lesson.opinions and _calibrates(lesson, name)]
        truth = [lesson.opinions[name][0] for lesson in (lessons[row] for row in rows)]
        of_first, of_second = given.opinions.get(name, ALIKE)
        joint = of_first * first[rows, column] + of_second * logits[rows, column]
        if len(set(truth)) < 2 or min(map(truth.count, (True, False))) < 5:
            shares[column] = of_first, of_second, 0.0
            continue
        scaling = LogisticRegression(C=1.0).fit(joint[:, np.newaxis], truth)
        slope = float(scaling.coef_[0, 0])
        shares[column] = of_first * slope, of_second * slope, float(scaling.intercept_[0])
    return SecondOpinion("", tuple(names), weights, bias, shares)


def _calibrates(lesson: Lesson, name: str) -> bool:
    if name == THREAT:
        return lesson.origin == UNSEEN_ORIGIN
    return lesson.origin == REAL and lesson.part is Part.CALIBRATE


def fit_claims(
    claims: Sequence[str], weights: Vectors, bias: Vectors, answerable: Vectors, lessons: Sequence[Lesson],
    firsts: Sequence[First], readings: Vectors, given: Shares,
) -> ClaimOpinion:  # fmt: skip
    """Return the opinion on claims, fitted on the calibration part's posts, leaving out threats without a claim."""
    blank = ClaimOpinion(tuple(claims), weights, bias, answerable, np.zeros(4, np.float32), np.zeros(3, np.float32))
    pairs, makes = [], []
    for lesson, first, reading in zip(lessons, firsts, readings, strict=True):
        if lesson.part is not Part.CALIBRATE or lesson.claims is None or first.claims is None:
            continue
        if lesson.opinions[THREAT][0] and not lesson.claims:
            continue
        pairs.append(claim_features(first.claims, blank.shares(reading)))
        makes.append(np.array([name in lesson.claims for name in claims]))
    of_claims = LogisticRegression(fit_intercept=False, max_iter=1000).fit(np.vstack(pairs), np.concatenate(makes))
    return ClaimOpinion(
        tuple(claims), weights, bias, answerable,
        np.asarray(of_claims.coef_[0], np.float32), np.array(given.gate, np.float32),
    )  # fmt: skip
