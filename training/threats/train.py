"""Train the threat head, and write its weights and model card. Needs scikit-learn (the `dev` extra)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from models.e5 import E5Embedder
from pipeline.normalise import normalise
from pipeline.threats import BUCKETS, ThreatHead, read
from training.heads.train import embed_cached
from training.threats.data import Sample, read_samples
from training.threats.model_card import write_card

Vectors = NDArray[np.float32]

STRENGTH = 1.0
"""Inverse regularisation (scikit-learn's C), chosen by cross-validation over templates and rows."""
EMBEDDED_LENGTH = 1.0
"""What an embedding, centred and of about this length, counts beside the surface features."""
COUNTS = {"posts": 3.0, "EDOS": 0.7, "Hatemoji": 1.0, "HatemojiCheck": 1.0, "replies": 1.0, "written": 1.0}
"""How much a sample of an origin counts: flagged posts look most like the posts."""
HARMLESS_COUNTS = {"en": 1.3, "fr": 5.0, "de": 8.0}
HARMLESS_ELSEWHERE = 3.0
"""What a harmless sentence of the project's own counts by language: else a language that the other sources don't have
would itself look like a threat, so many of its sentences being one."""
FOLDS = 4
NEGLIGIBLE = 0.004
"""Weights below this are dropped: they compress to nothing and change no score by more than a rounding."""


def matrix(samples: Sequence[Sample]) -> csr_matrix:
    """Return the surface features, shape (n, BUCKETS)."""
    rows = [read(sample.text) for sample in samples]
    ends = np.cumsum([0, *(len(row.buckets) for row in rows)])
    values = np.concatenate([row.weights for row in rows])
    buckets = np.concatenate([row.buckets for row in rows])
    return csr_matrix((values, buckets, ends), shape=(len(rows), BUCKETS))


def train(seen: Sequence[Sample], vectors: Vectors, surface: csr_matrix) -> tuple[ThreatHead, NDArray[np.float64]]:
    """Fit the head on `seen`, calibrated on what models say of sources that they had not seen.

    Those probabilities, shape (n,), come with it: a limit can be chosen by them.
    """
    mean = vectors.mean(axis=0)
    scale = EMBEDDED_LENGTH / np.linalg.norm(vectors - mean, axis=1).mean()
    x = hstack([csr_matrix((vectors - mean) * scale), surface]).tocsr()
    y = np.array([sample.threat for sample in seen])
    counts = np.array([_count(sample) for sample in seen])
    logits = np.zeros(len(y))
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    for rest, fold in folds.split(x, y, [sample.source for sample in seen]):
        logits[fold] = _regression().fit(x[rest], y[rest], counts[rest]).decision_function(x[fold])
    scaling = LogisticRegression(C=1e6).fit(logits[:, np.newaxis], y, counts)
    slope, offset = float(scaling.coef_[0, 0]), float(scaling.intercept_[0])
    model = _regression().fit(x, y, counts)
    weights = slope * model.coef_[0]
    width = vectors.shape[1]
    embedded = weights[:width] * scale
    hashed = np.where(np.abs(weights[width:]) < NEGLIGIBLE, 0, weights[width:])
    bias = float(slope * model.intercept_[0] + offset - embedded @ mean)
    # Measured as it will be shipped: rounded to half precision.
    head = ThreatHead(_half(embedded), _half(hashed), bias, E5Embedder.name)
    return head, scaling.predict_proba(logits[:, np.newaxis])[:, 1]


def _count(sample: Sample) -> float:
    if sample.origin == "written" and not sample.threat:
        return HARMLESS_COUNTS.get(sample.language, HARMLESS_ELSEWHERE)
    return COUNTS[sample.origin]


def _regression() -> LogisticRegression:
    return LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=400)


def _half(values: NDArray[np.float64]) -> Vectors:
    return values.astype(np.float16).astype(np.float32)


def save(head: ThreatHead, path: Path) -> None:
    """Write the head, weights in half precision; the same head gives the same bytes."""
    np.savez_compressed(
        path,
        embedded=head.embedded.astype(np.float16),
        hashed=head.hashed.astype(np.float16),
        bias=np.float32(head.bias),
        embedder=head.embedder,
    )


def train_and_write(data: Path, out: Path, cache: Path) -> str:
    """Train on the data sets under `data`, write `threat.npz` and `threat.md` into `out`, and return the model card."""
    samples = read_samples(data)
    vectors = embed_cached([normalise(sample.text) for sample in samples], cache)
    surface = matrix(samples)
    held_out = np.array([sample.held_out for sample in samples])
    seen = [sample for sample in samples if not sample.held_out]
    head, calibration = train(seen, vectors[~held_out], surface[~held_out])
    out.mkdir(parents=True, exist_ok=True)
    save(head, out / "threat.npz")
    digest = hashlib.sha256((out / "threat.npz").read_bytes()).hexdigest()
    unseen = [sample for sample in samples if sample.held_out]
    scores = np.array([head.score(s.text, v) for s, v in zip(unseen, vectors[held_out], strict=True)])
    card = write_card(seen, calibration, unseen, scores, digest)
    (out / "threat.md").write_text(card, encoding="utf-8")
    return card
