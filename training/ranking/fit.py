"""Fit the ranker: a logistic regression on named features for each part of a reply. Needs scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from kb.claims.loading import ClaimFiles
from kb.claims.ranking import Occasion, claim_features, counter_features, fact_features
from training.decisions.gathering import folded
from training.decisions.records import Verdict

STRENGTH = 0.3
"""Inverse regularisation (scikit-learn's C), strong enough that one or two judgements change little."""
FOLDS = 5
DRAWS = 1000
"""Bootstrap samples of posts behind an interval."""
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Judged:
    """The judgements on one part of replies: features, approval, and the post, by which data are split."""

    part: str
    features: list[tuple[str, ...]]
    approved: NDArray[np.bool_]
    posts: list[str]

    @property
    def learnable(self) -> bool:
        """Tell whether both answers occur, approved and not."""
        return bool(self.approved.any()) and not bool(self.approved.all())


@dataclass(frozen=True)
class Measured:
    """The figures of one part: number of judgements, share approved, and AUC on unseen posts with its 95 % interval.

    AUC and interval are None if there is too little data to measure them.
    """

    part: str
    judgements: int
    approved: float
    auc: float | None = None
    interval: tuple[float, float] | None = None


def judged_parts(verdicts: Sequence[Verdict], files: ClaimFiles) -> list[Judged]:
    """Return the judgements on claims, counter-claims and facts; those no longer on file are left out."""
    rows: dict[str, list[tuple[tuple[str, ...], bool, str]]] = {"claim": [], "counter-claim": [], "fact": []}
    for verdict in verdicts:
        claim, fact = files.claims.get(verdict.claim), files.facts.get(verdict.fact)
        if claim is None or fact is None:
            continue
        occasion, post = Occasion(verdict.language, next(iter(verdict.groups), None)), folded(verdict.post)
        counter = counter_features(claim, verdict.counter, verdict.intent, occasion)
        for part, features, approved in (
            ("claim", claim_features(claim, occasion), verdict.claim_approved),
            ("counter-claim", counter, verdict.counter_approved),
            ("fact", fact_features(claim, fact, occasion), verdict.fact_approved),
        ):
            if approved is not None:
                rows[part].append((features, approved, post))
    return [
        Judged(
            part, [row[0] for row in own], np.array([row[1] for row in own], np.bool_), [row[2] for row in own]
        )
        for part, own in rows.items()
    ]  # fmt: skip


def fit(parts: Sequence[Judged]) -> dict[str, float]:
    """Return the weight of each feature in log odds; parts with only one answer give none."""
    weights: dict[str, float] = {}
    for judged in parts:
        if judged.learnable:
            vectorizer, regression = _fitted(judged.features, judged.approved)
            named = zip(vectorizer.get_feature_names_out(), regression.coef_[0], strict=True)
            weights |= {str(name): round(float(weight), 4) for name, weight in named if abs(weight) >= 1e-4}
    return weights


def measure(judged: Judged) -> Measured:
    """Return the figures of a part by cross-validation, in which no post is in both training and test."""
    approved = float(judged.approved.mean()) if len(judged.approved) else 0.0
    summary = Measured(judged.part, len(judged.approved), approved)
    if not judged.learnable or len(set(judged.posts)) < FOLDS:
        return summary
    scores = np.full(len(judged.approved), np.nan)
    for seen, unseen in GroupKFold(FOLDS).split(judged.features, judged.approved, judged.posts):
        if len(set(judged.approved[seen])) == 2:
            vectorizer, regression = _fitted([judged.features[n] for n in seen], judged.approved[seen])
            scores[unseen] = regression.decision_function(
                vectorizer.transform(_rows([judged.features[n] for n in unseen]))
            )
    if np.isnan(scores).any():
        return summary
    auc = float(roc_auc_score(judged.approved, scores))
    return Measured(judged.part, len(judged.approved), approved, auc, _interval(judged, scores))


def _interval(judged: Judged, scores: Scores) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the AUC, resampling posts."""
    posts = np.array(judged.posts)
    rows = [np.flatnonzero(posts == post) for post in dict.fromkeys(judged.posts)]
    random = np.random.default_rng(0)
    areas = []
    for _ in range(DRAWS):
        drawn = np.concatenate([rows[n] for n in random.integers(len(rows), size=len(rows))])
        if len(set(judged.approved[drawn])) == 2:
            areas.append(roc_auc_score(judged.approved[drawn], scores[drawn]))
    low, high = np.quantile(areas, [0.025, 0.975])
    return float(low), float(high)


def _fitted(
    features: Sequence[tuple[str, ...]], approved: NDArray[np.bool_]
) -> tuple[DictVectorizer, LogisticRegression]:
    vectorizer = DictVectorizer()
    x = vectorizer.fit_transform(_rows(features))
    return vectorizer, LogisticRegression(C=STRENGTH, max_iter=1000).fit(x, approved)


def _rows(features: Sequence[tuple[str, ...]]) -> list[dict[str, float]]:
    return [dict.fromkeys(row, 1.0) for row in features]
