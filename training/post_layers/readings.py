"""Sum up what a tuned model makes of texts, and fit its opinions. Needs torch and scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kb.claims.second_opinion import ClaimOpinion
from models.embed import Vectors
from pipeline.second_opinion import SecondOpinion
from training import low_rank
from training.post_layers.lessons import Lesson
from training.post_layers.opinions import MOST, First, Shares, Sums, fit_claims, fit_opinion, sum_up
from training.post_layers.tuning import OPINIONS, Tuned

SUMMED_FROM = 20_000
"""Most texts used to decide what a reading preserves."""
PORTION = 64
SEED = 0


def drawn_portions(lengths: Sequence[int]) -> list[list[int]]:
    """Return the numbers of the texts, of these lengths, that decide what a reading preserves, in portions."""
    drawn = np.random.default_rng(SEED).permutation(len(lengths))[:SUMMED_FROM].tolist()
    drawn.sort(key=lambda number: lengths[number])
    return [drawn[start : start + PORTION] for start in range(0, len(drawn), PORTION)]


def sums_of(tuned: Tuned, pooled: Vectors) -> Sums:
    """Return the sums, for service, that best preserve what tuned heads make of `pooled`, shape (n, pooled)."""
    weights, bias = _stacked(tuned)
    spread = (pooled @ weights.T + bias).std(axis=0)
    claims = len(tuned.claims)
    scale = np.concatenate([MOST / spread[:-claims], np.full(claims, 1 / spread[-claims:].mean())])
    sums = sum_up(weights, bias, np.asarray(scale, np.float32), pooled)
    low_rank.without_scaled_mean(sums.summed)
    return sums


def fit_opinions(
    tuned: Tuned, sums: Sums, lessons: Sequence[Lesson], firsts: Sequence[First], readings: Vectors, shares: Shares
) -> tuple[SecondOpinion, ClaimOpinion]:
    """Return the opinions on readings, shape (lessons, m), fitted beside the first ones."""
    heads, claims = len(OPINIONS), len(tuned.claims)
    opinion = fit_opinion(OPINIONS, sums.back[:heads], sums.centre[:heads], lessons, firsts, readings, shares)
    answerable = np.append(sums.back[-claims - 1], sums.centre[-claims - 1])
    of_claims = sums.back[-claims:], sums.centre[-claims:]
    return opinion, fit_claims(tuned.claims, *of_claims, answerable, lessons, firsts, readings, shares)


def _stacked(tuned: Tuned) -> tuple[Vectors, Vectors]:
    """Return the weights and biases of all heads, claims last."""
    names = ("opinion", "kind", "answerable", "claim")
    weights = np.concatenate([tuned.heads[f"{name}.w"].numpy() for name in names])
    return weights, np.concatenate([tuned.heads[f"{name}.b"].numpy() for name in names])
