"""Fit the hate head's network over tokens, using numpy alone."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from core.errors import BadSettings
from models.e5 import E5Embedder
from models.embedders import default_embedder
from pipeline.token_network import LONGEST, NEARLY, TokenNetwork, activated, pooled_share, standardised
from training.heads.data import REAL
from training.heads.fit import Numbers, Weights, balanced
from training.heads.network import half
from training.heads.sample import Part, Sample

States = Sequence[NDArray[np.float16]]

COUNTS = {
    "HateXplain": 6.0, "CrowdCounter posts": 3.0, "functional": 10.0, "written": 2.0, "Hatemoji": 1.0,
    "HatemojiCheck": 0.5, "CrowdCounter replies": 0.3,
}  # fmt: skip
"""Weight of a sample by origin; origins least like flagged posts are left out."""
MOST_COUNTED = 20.0
"""Largest weight of one sample, as a multiple of the mean, so that no sample dominates a step."""
UNITS, PASSES, PORTION = 128, 6, 96
RATE, DECAY = 2e-3, 1e-6
UNSEEN, DROPPED = 0.1, 0.3
"""Shares of the tokens' numbers, and of the pooled units, that are dropped for each portion."""
SMOOTHED = 0.03
"""Distance of the training targets from 0 and 1: labels are the opinions of a few people."""
ALIKE = 4
"""Texts are sorted into portions by length in steps of this many tokens."""


def usable(samples: Sequence[Sample]) -> list[int]:
    """Return the numbers of the samples to read token by token: those outside training, or of an origin in COUNTS."""
    return [row for row, s in enumerate(samples) if s.part is not Part.TRAIN or s.origin in COUNTS]


def states_cached(texts: Sequence[str], cache: Path) -> States:
    """Return the states of each text's tokens, from `cache` if it holds exactly these texts."""
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()
    if cache.exists():
        with np.load(cache) as data:
            if str(data["digest"]) == digest:
                return np.split(data["states"], data["ends"][:-1])
    states = asyncio.run(_read(texts))
    ends = np.cumsum([len(of_text) for of_text in states])
    np.savez(cache, digest=np.array(digest), ends=ends, states=np.concatenate(states))
    return states


async def _read(texts: Sequence[str]) -> list[NDArray[np.float16]]:
    embedder = default_embedder()
    states = []
    try:
        for text in texts:
            tokens = (await embedder.read(text)).tokens if isinstance(embedder, E5Embedder) else None
            if tokens is None:
                raise BadSettings("The heads are trained on tokens, which ONNX Runtime gives out: install onnxruntime.")
            states.append(tokens[:LONGEST].astype(np.float16))
    finally:
        await embedder.close()
    return states


def fit_tokens(samples: Sequence[Sample], states: States, other_views: Numbers) -> TokenNetwork:
    """Fit the network on the training part, and its share in the joint score on the calibration part's flagged posts.

    `other_views`, shape (n,), are the hate probabilities of the other views. The same data give the same network.
    """
    hateful = np.array([sample.hateful is True for sample in samples])
    learns = np.array([s.part is Part.TRAIN and s.hateful is not None for s in samples])
    counts = np.array([COUNTS.get(sample.origin, 0.0) for sample in samples], np.float32) * learns
    weights = balanced(hateful[:, np.newaxis], counts[:, np.newaxis])[:, 0]
    weights = np.minimum(weights / weights[learns].mean(), MOST_COUNTED)
    network = _fitted(np.flatnonzero(learns), states, hateful * (1 - 2 * SMOOTHED) + SMOOTHED, weights)
    judges = np.array([sample.part is Part.CALIBRATE and sample.origin == REAL for sample in samples])
    before = np.clip(other_views[judges], NEARLY, 1 - NEARLY)
    logits = [network.logit(states[row].astype(np.float32)) for row in np.flatnonzero(judges).tolist()]
    joint = LogisticRegression(C=1e6).fit(np.stack([np.log(before / (1 - before)), logits], axis=1), hateful[judges])
    shares = np.array([*joint.coef_[0], joint.intercept_[0]], np.float32)
    return replace(network, shares=half(shares))


def _fitted(rows: NDArray[np.int64], states: States, answers: NDArray[np.float64], weights: Numbers) -> TokenNetwork:
    """Minimise the logistic loss over the texts in `rows`; `answers` and `weights`, shape (n,), cover all texts."""
    chance = np.random.default_rng(0)
    width = states[0].shape[1]
    taps = Weights(chance.normal(0, 0.03, (width, 3 * UNITS)).astype(np.float32), RATE, DECAY)
    bias = Weights(np.zeros(UNITS, np.float32), RATE)
    out = Weights(np.append(chance.normal(0, 0.06, 2 * UNITS), 0).astype(np.float32), RATE)
    lengths = np.array([len(of_text) for of_text in states])
    plan = [portion for _ in range(PASSES) for portion in _portions(rows, lengths, chance)]
    for step, portion in enumerate(plan, 1):
        seen = _padded([states[row] for row in portion])
        seen *= (chance.random(seen.shape, np.float32) >= UNSEEN) / np.float32(1 - UNSEEN)
        within = (np.arange(seen.shape[1]) < lengths[portion, np.newaxis])[..., np.newaxis]
        units = activated((seen.reshape(-1, width) @ taps.values).reshape(*seen.shape[:2], -1), bias.values) * within
        place = units.argmax(axis=1)[:, np.newaxis]
        highest, share = np.take_along_axis(units, place, 1)[:, 0], pooled_share(lengths[portion])[:, np.newaxis]
        kept = (chance.random((len(portion), 2 * UNITS)) >= DROPPED).astype(np.float32) / np.float32(1 - DROPPED)
        pooled = np.concatenate([highest, units.sum(axis=1) * share], axis=1) * kept
        chances = 1 / (1 + np.exp(-np.clip(pooled @ out.values[:-1] + out.values[-1], -30, 30)))
        slope = np.asarray((chances - answers[portion]) * weights[portion] / len(portion), np.float32)
        of_pooled = slope[:, np.newaxis] * out.values[:-1] * kept
        of_units = (units > 0) * (of_pooled[:, UNITS:] * share)[:, np.newaxis]
        of_highest = np.take_along_axis(of_units, place, 1) + (of_pooled[:, :UNITS] * (highest > 0))[:, np.newaxis]
        np.put_along_axis(of_units, place, of_highest, 1)
        out.move(np.append(pooled.T @ slope, slope.sum()).astype(np.float32), step, len(plan))
        bias.move(of_units.sum(axis=(0, 1)), step, len(plan))
        taps.move(seen.reshape(-1, width).T @ _of_taps(of_units).reshape(-1, 3 * UNITS), step, len(plan))
    return TokenNetwork(half(taps.values), half(bias.values), half(out.values), np.array([0, 1, 0], np.float32))


def _of_taps(of_units: Numbers) -> Numbers:
    """Return the gradient of the taps' outputs from that of the units: the backward pass of `activated`."""
    before, after = np.zeros_like(of_units), np.zeros_like(of_units)
    before[:, :-1], after[:, 1:] = of_units[:, 1:], of_units[:, :-1]
    return np.concatenate([of_units, before, after], axis=2)


def _portions(
    rows: NDArray[np.int64], lengths: NDArray[np.int64], chance: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Yield the rows in portions of texts of similar length, in a new order at each call."""
    shuffled = chance.permutation(rows)
    alike = shuffled[np.argsort(lengths[shuffled] // ALIKE, kind="stable")]
    portions = np.split(alike, range(PORTION, len(alike), PORTION))
    yield from (portions[place] for place in chance.permutation(len(portions)))


def _padded(states: States) -> Numbers:
    """Return the texts' states, standardised and padded with zeros at the end, shape (texts, tokens, w)."""
    together = np.zeros((len(states), max(map(len, states)), states[0].shape[1]), np.float32)
    for row, of_text in zip(together, states, strict=True):
        row[: len(of_text)] = standardised(of_text.astype(np.float32))
    return together
