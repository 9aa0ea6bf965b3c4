"""Train the heads of triage, and write their weights and model card. Needs scikit-learn (the `dev` extra)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from core.domain import TargetGroup
from models.e5 import E5Embedder
from models.embedders import default_embedder
from pipeline.heads import COUNTER, HATE, NAMES, Heads
from training.heads.data import Sample, read_samples
from training.heads.model_card import write_card

Vectors = NDArray[np.float32]
Labels = NDArray[np.bool_]

STRENGTH = {HATE: 0.0005, COUNTER: 0.003}
GROUP_STRENGTH = 0.001
"""Inverse regularisation (scikit-learn's C) on standardised embeddings."""
COUNTS = {
    "HateXplain": 4.0,
    "CrowdCounter posts": 2.0,
    "written": 2.0,
    "EDOS": 0.5,
    "Davidson": 0.5,
    "Wikipedia": 0.5,
    "MLMA": 0.3,
    "CrowdCounter replies": 0.3,
}
"""How much a sample of an origin counts: flagged posts look most like HateXplain's.

These and the strengths were chosen by four-fold cross-validation on HateXplain's training rows.
"""
FOLDS = 5


def embed_cached(texts: Sequence[str], cache: Path) -> Vectors:
    """Return query embeddings, shape (n, 384); what is in `cache` is not computed again."""
    keys = [hashlib.sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest() for text in texts]
    known: dict[str, NDArray[np.float16]] = {}
    if cache.exists():
        with np.load(cache) as data:
            known = dict(zip(data["keys"].tolist(), data["vectors"], strict=True))
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    if missing:
        vectors = asyncio.run(_embed(list(missing.values())))
        known.update(zip(missing, vectors.astype(np.float16), strict=True))
        np.savez(cache, keys=np.array(list(known)), vectors=np.array(list(known.values())))
    return np.array([known[key] for key in keys], np.float32)


async def _embed(texts: list[str]) -> Vectors:
    embedder = default_embedder()
    try:
        return await embedder.queries(texts)
    finally:
        await embedder.close()


def labels(name: str, samples: Sequence[Sample]) -> tuple[Labels, Labels]:
    """Return what is true of each sample for the head `name`, and for which samples that is known."""
    if name == HATE:
        return np.array([s.hateful is True for s in samples]), np.array([s.hateful is not None for s in samples])
    if name == COUNTER:
        return np.array([s.counter is True for s in samples]), np.array([s.counter is not None for s in samples])
    group = TargetGroup(name)
    return np.array([group in s.groups for s in samples]), np.array([group in s.judged for s in samples])


def train(seen: Sequence[Sample], vectors: Vectors, embedder: str) -> Heads:
    """Fit all heads on `seen`."""
    mean, spread = vectors.mean(axis=0), vectors.std(axis=0) + 1e-6
    fitted = [_fit_one(name, seen, (vectors - mean) / spread) for name in NAMES]
    weights = np.array([weight for weight, _ in fitted]) / spread
    bias = np.array([offset for _, offset in fitted]) - weights @ mean
    # Measured as they will be shipped: rounded to half precision.
    return Heads(weights.astype(np.float16).astype(np.float32), bias.astype(np.float32), embedder)


def _fit_one(name: str, seen: Sequence[Sample], standard: Vectors) -> tuple[Vectors, float]:
    true, known = labels(name, seen)
    like_flagged = np.array([sample.origin in ("HateXplain", "CrowdCounter posts") for sample in seen])
    weights = {} if name == COUNTER else COUNTS
    counts = np.array([weights.get(sample.origin, 1.0) for sample in seen])[known]
    x, y = standard[known], true[known]
    # Only for hate do other origins have another share of positives than flagged posts.
    judges = like_flagged[known] if name == HATE else np.ones(len(y), np.bool_)
    slope, offset = _calibration(name, x, y, counts, judges)
    model = _regression(name).fit(x, y, counts)
    return slope * model.coef_[0], float(slope * model.intercept_[0] + offset)


def _regression(name: str) -> LogisticRegression:
    return LogisticRegression(C=STRENGTH.get(name, GROUP_STRENGTH), class_weight="balanced", max_iter=500)


def _calibration(name: str, x: Vectors, y: Labels, counts: NDArray[np.float64], judges: Labels) -> tuple[float, float]:
    """Return slope and offset that make logits of unseen texts probabilities (Platt 1999), by cross-validation."""
    logits = np.zeros(len(y))
    for rest, fold in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(x, y):
        logits[fold] = _regression(name).fit(x[rest], y[rest], counts[rest]).decision_function(x[fold])
    scaling = LogisticRegression(C=1e6).fit(logits[judges, np.newaxis], y[judges])
    return float(scaling.coef_[0, 0]), float(scaling.intercept_[0])


def save(heads: Heads, path: Path) -> None:
    """Write the heads, weights in half precision; the same heads give the same bytes."""
    np.savez_compressed(path, weights=heads.weights.astype(np.float16), bias=heads.bias, embedder=heads.embedder)


def train_and_write(data: Path, out: Path, cache: Path) -> str:
    """Train on the data sets under `data`, write `heads.npz` and `heads.md` into `out`, and return the model card."""
    samples = read_samples(data)
    vectors = embed_cached([sample.text for sample in samples], cache)
    held_out = np.array([sample.held_out for sample in samples])
    seen = [sample for sample in samples if not sample.held_out]
    unseen = [sample for sample in samples if sample.held_out]
    heads = train(seen, vectors[~held_out], E5Embedder.name)
    out.mkdir(parents=True, exist_ok=True)
    save(heads, out / "heads.npz")
    digest = hashlib.sha256((out / "heads.npz").read_bytes()).hexdigest()
    card = write_card(seen, unseen, heads.probabilities(vectors[held_out]), digest)
    (out / "heads.md").write_text(card, encoding="utf-8")
    return card
