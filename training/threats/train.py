"""Train the threat head, and write its weights and model card. Needs scikit-learn (the `dev` extra)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from models.e5 import E5Embedder
from pipeline.network import Network
from pipeline.normalise import normalise
from pipeline.threats import BUCKETS, Surface, ThreatHead, read
from training.heads.fit import balanced
from training.heads.network import fit_network, half
from training.heads.train import embed_cached
from training.threats.data import FORUMS, TWINS, WORDINGS, Sample, read_samples
from training.threats.model_card import write_card

Vectors = NDArray[np.float32]

STRENGTH = 1.0
"""Inverse regularisation (scikit-learn's C), chosen by cross-validation over templates and rows."""
EMBEDDED_LENGTH = 1.0
"""The mean length to which centred embeddings are scaled, relative to the surface features."""
NETWORK_LENGTH, NETWORK_SIGN = 6.0, 0.7
"""The same for the network, and the value of a sign that a text shows."""
FEWEST_WITH_SIGN = 20
"""Fewest texts that must show a sign for the network to use it."""
COUNTS = {"posts": 3.0, "EDOS": 0.7, "Hatemoji": 1.0, "HatemojiCheck": 1.0, "replies": 1.0, "written": 1.3, FORUMS: 1.0}
"""Weight of a sample by origin: flagged posts look most like "posts"."""
HARMLESS_COUNTS = {"en": 1.0, "eu": 2.0, "fr": 5.0, "de": 8.0}
HARMLESS_ELSEWHERE = 1.3
"""Weight of a harmless sentence of our own by language. Without it, a language that only our own sentences have would
itself look like a threat, because so many of these are threats."""
WORDING_COUNTS = {"en": 0.15}
WORDING_ELSEWHERE = 0.2
"""Weight of a wording by language; there are many, and none is a threat."""
FOLDS = 4
NEGLIGIBLE = 0.004
"""Weights below this are dropped: they compress to nothing and change no score by more than a rounding."""


@dataclass(frozen=True)
class Views:
    """The features of n texts: standardised embeddings, shape (n, d), hashed surface, and which `signs` they show."""

    embedded: Vectors
    hashed: csr_matrix
    signs: tuple[str, ...]
    shown: Vectors

    @property
    def linear(self) -> csr_matrix:
        """The columns of the regression."""
        return hstack([csr_matrix(self.embedded * EMBEDDED_LENGTH), self.hashed]).tocsr()

    @property
    def dense(self) -> Vectors:
        """The columns of the network."""
        return np.hstack([self.embedded * NETWORK_LENGTH, self.shown * NETWORK_SIGN])


def matrix(surfaces: Sequence[Surface]) -> csr_matrix:
    """Return the hashed surface of texts, shape (n, BUCKETS)."""
    ends = np.cumsum([0, *(len(surface.buckets) for surface in surfaces)])
    values = np.concatenate([surface.weights for surface in surfaces])
    buckets = np.concatenate([surface.buckets for surface in surfaces])
    return csr_matrix((values, buckets, ends), shape=(len(surfaces), BUCKETS))


def train(seen: Sequence[Sample], vectors: Vectors) -> tuple[ThreatHead, NDArray[np.float64]]:
    """Fit the head on `seen` and their embeddings, shape (n, d).

    The shares of regression and network are fitted to their scores on sources that they had not seen. The joint
    probabilities from these scores, shape (n,), are returned too, so that a limit can be chosen by them.
    """
    mean = vectors.mean(axis=0)
    scale = 1 / np.linalg.norm(vectors - mean, axis=1).mean()
    surfaces = [read(sample.text) for sample in seen]
    often = Counter(sign for surface in surfaces for sign in surface.signs)
    signs = tuple(sorted(sign for sign, texts in often.items() if texts >= FEWEST_WITH_SIGN))
    shown = np.array([[sign in surface.signs for sign in signs] for surface in surfaces], np.float32)
    views = Views(np.asarray((vectors - mean) * scale, np.float32), matrix(surfaces), signs, shown)
    y = np.array([sample.threat for sample in seen])
    counts = np.array([_count(sample) for sample in seen], np.float32)
    x, dense, truth = views.linear, views.dense, y[:, np.newaxis]
    weights = balanced(truth, counts[:, np.newaxis])
    logits = np.zeros((len(y), 2))
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    for rest, fold in folds.split(logits, y, [sample.source for sample in seen]):
        logits[fold, 0] = _regression().fit(x[rest], y[rest], counts[rest]).decision_function(x[fold])
        logits[fold, 1] = fit_network(dense[rest], truth[rest], weights[rest]).logits(dense[fold])[:, 0]
    shares = LogisticRegression(C=1e6).fit(logits, y, counts)
    model, network = _regression().fit(x, y, counts), fit_network(dense, truth, weights)
    head = _head(views, mean, scale, model, network, shares)
    return head, shares.predict_proba(logits)[:, 1]


def _head(
    views: Views, mean: Vectors, scale: float, model: LogisticRegression, network: Network,
    shares: LogisticRegression,
) -> ThreatHead:  # fmt: skip
    """Return both models as one head that takes unscaled embeddings, rounded to the precision that is shipped."""
    of_model, of_network = shares.coef_[0]
    width = len(mean)
    weights = of_model * model.coef_[0]
    embedded = weights[:width] * EMBEDDED_LENGTH * scale
    hashed = np.where(np.abs(weights[width:]) < NEGLIGIBLE, 0, weights[width:])
    bias = float(of_model * model.intercept_[0] + shares.intercept_[0] - embedded @ mean)
    lengths = np.repeat([NETWORK_LENGTH * scale, NETWORK_SIGN], [width, len(views.signs)])
    hidden = network.hidden * lengths[:, np.newaxis]
    units = Network(half(hidden), half(network.bias - mean @ hidden[:width]), half(of_network * network.out))
    return ThreatHead(half(embedded), half(hashed), bias, views.signs, units, E5Embedder.name)


def _count(sample: Sample) -> float:
    if sample.origin == "written" and not sample.threat:
        return HARMLESS_COUNTS.get(sample.language, HARMLESS_ELSEWHERE)
    if sample.origin == WORDINGS:
        return WORDING_COUNTS.get(sample.language, WORDING_ELSEWHERE)
    return COUNTS[sample.origin]


def _regression() -> LogisticRegression:
    return LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=400)


def save(head: ThreatHead, path: Path) -> None:
    """Write the head with weights in half precision; the same head gives the same bytes."""
    np.savez_compressed(
        path,
        embedded=head.embedded.astype(np.float16),
        hashed=head.hashed.astype(np.float16),
        bias=np.float32(head.bias),
        signs=np.array(head.signs),
        hidden=head.network.hidden.astype(np.float16),
        hidden_bias=head.network.bias.astype(np.float16),
        out=head.network.out.astype(np.float16),
        embedder=head.embedder,
    )


def train_and_write(data: Path, out: Path, cache: Path) -> str:
    """Train on the data sets under `data`, write `threat.npz` and `threat.md` into `out`, and return the model card."""
    samples = [sample for sample in read_samples(data) if sample.origin != TWINS]
    vectors = embed_cached([normalise(sample.text) for sample in samples], cache)
    held_out = np.array([sample.held_out for sample in samples])
    seen = [sample for sample in samples if not sample.held_out]
    head, calibration = train(seen, vectors[~held_out])
    out.mkdir(parents=True, exist_ok=True)
    save(head, out / "threat.npz")
    digest = hashlib.sha256((out / "threat.npz").read_bytes()).hexdigest()
    unseen = [sample for sample in samples if sample.held_out]
    scores = np.array([head.score(s.text, v) for s, v in zip(unseen, vectors[held_out], strict=True)])
    card = write_card(seen, calibration, unseen, scores, digest)
    (out / "threat.md").write_text(card, encoding="utf-8")
    return card
