"""Train triage's heads, and write their weights and model cards. Needs scikit-learn (the `dev` extra)."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from core.domain import TargetGroup
from models.e5 import E5Embedder
from models.embedders import default_embedder
from pipeline import ngrams
from pipeline.heads import COUNTER, HATE, NAMES, TOKEN_PARTS, Heads
from pipeline.network import Network
from training.heads import model_cards, reliability_plot
from training.heads.data import REAL, read_samples
from training.heads.fit import Columns, Fitted, balanced, fit
from training.heads.measure import Measurement, reliability
from training.heads.network import fit_network
from training.heads.sample import Part, Sample
from training.heads.tokens import fit_tokens, states_cached, usable

Vectors = NDArray[np.float32]
Labels = NDArray[np.bool_]

COUNTS = {
    "HateXplain": 4.0,
    "CrowdCounter posts": 2.0,
    "functional": 1.5,
    "EDOS": 0.5,
    "HatemojiCheck": 0.5,
    "Wikipedia": 0.5,
    "Davidson": 0.3,
    "MLMA": 0.3,
    "CrowdCounter replies": 0.3,
    "claims": 0.3,
    "answers to claims": 0.2,
}
HATE_COUNTS = COUNTS | {
    "HateXplain": 6.0,
    "CrowdCounter posts": 3.0,
    "functional": 10.0,
    "written": 2.0,
    "Hatemoji": 0.5,
    "claims": 0.15,
    "MLMA": 0.1,
}
"""Weights of samples by origin: COUNTS for groups and counterspeech, HATE_COUNTS for hate; 1 for other origins.

Flagged posts look most like HateXplain's. The weights were chosen on folds of the training part and on the calibration
half of the flagged posts.
"""
FOLDS = 4
NETWORK_LENGTH = np.float32(0.3)
"""The factor by which standardised embeddings are scaled for the network."""


def embed_cached(texts: Sequence[str], cache: Path) -> Vectors:
    """Return query embeddings, shape (n, 384); those in `cache` are not computed again."""
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
    """Return the labels of each sample for the head `name`, and a mask of the samples for which they are known."""
    if name == HATE:
        return np.array([s.hateful is True for s in samples]), np.array([s.hateful is not None for s in samples])
    if name == COUNTER:
        return np.array([s.counter is True for s in samples]), np.array([s.counter is not None for s in samples])
    group = TargetGroup(name)
    return np.array([group in s.groups for s in samples]), np.array([group in s.judged for s in samples])


def columns(samples: Sequence[Sample], vectors: Vectors) -> tuple[Columns, Vectors, Vectors]:
    """Return the dense and sparse features of samples, and the mean and spread that standardise their embeddings."""
    mean, spread = vectors.mean(axis=0), vectors.std(axis=0) + 1e-6
    rows = [ngrams.buckets(sample.text) for sample in samples]
    starts = np.cumsum([0, *(len(buckets) for buckets, _ in rows)])
    sparse = csr_array(
        (np.concatenate([weights for _, weights in rows]), np.concatenate([buckets for buckets, _ in rows]), starts),
        shape=(len(rows), ngrams.BUCKETS),
    )
    return Columns((vectors - mean) / spread, sparse), mean, spread


def train(seen: Sequence[Sample], vectors: Vectors, embedder: str) -> Heads:
    """Fit all heads on the training part of `seen`, and calibrate their logits to probabilities (Platt 1999).

    Hate is calibrated on the calibration part's flagged posts. The other heads are calibrated on everything but the
    report part, with the training part scored by heads that had not seen its fold.
    """
    views, mean, spread = columns(seen, vectors)
    both = [labels(name, seen) for name in NAMES]
    truth, known = (np.array(table).T for table in zip(*both, strict=True))
    counts = np.array([_counts(sample.origin) for sample in seen], np.float32)
    learns = np.array([sample.part is Part.TRAIN for sample in seen])
    usable = known * counts * learns[:, np.newaxis]
    fitted = _fit(views, truth, usable, learns)
    logits = fitted.logits(views)
    column_of_hate = NAMES.index(HATE)
    of_hate = [column_of_hate]
    network = _beside(views, truth[:, of_hate], usable[:, of_hate], learns, logits[:, of_hate])
    logits[learns] = _logits_of_unseen(seen, views, truth, usable, learns)[learns]
    logits[:, of_hate] += network.logits(views.dense * NETWORK_LENGTH)
    slope, offset = np.ones(len(NAMES), np.float32), np.zeros(len(NAMES), np.float32)
    for column, name in enumerate(NAMES):
        judges = known[:, column] & _judges(name, seen)
        if len(set(truth[judges, column])) == 2:
            slope[column], offset[column] = _platt(logits[judges, column], truth[judges, column])
    dense = fitted.dense * slope / spread[:, np.newaxis]
    hidden = network.hidden * NETWORK_LENGTH / spread[:, np.newaxis]
    hate = Network(hidden, network.bias - mean @ hidden, network.out * slope[column_of_hate])
    bias = fitted.bias * slope + offset - mean @ dense
    return rounded(Heads(NAMES, dense.T, fitted.sparse * slope, bias, hate, embedder))


def _beside(views: Columns, truth: Labels, usable: Vectors, learns: Labels, logits: Vectors) -> Network:
    """Fit the network of one head, scaled so that its logits spread as widely as the `logits` of the regression."""
    network = fit_network(views.dense[learns] * NETWORK_LENGTH, truth[learns], balanced(truth[learns], usable[learns]))
    share = logits[learns].std() / max(network.logits(views.dense[learns] * NETWORK_LENGTH).std(), 1e-9)
    return replace(network, out=network.out * np.float32(share))


def _counts(origin: str) -> list[float]:
    return [(HATE_COUNTS if name == HATE else COUNTS).get(origin, 1.0) for name in NAMES]


def _judges(name: str, seen: Sequence[Sample]) -> Labels:
    """Return a mask of the samples that calibrate a head: for hate, flagged posts, with their share of hateful ones."""
    if name == HATE:
        return np.array([sample.part is Part.CALIBRATE and sample.origin == REAL for sample in seen])
    return np.array([sample.part is not Part.REPORT for sample in seen])


def _fit(views: Columns, truth: Labels, counts: Vectors, rows: Labels) -> Fitted:
    return fit(views.rows(rows), truth[rows], balanced(truth[rows], counts[rows]))


def _logits_of_unseen(
    seen: Sequence[Sample], views: Columns, truth: Labels, counts: Vectors, learns: Labels
) -> Vectors:
    """Return logits of the training part by heads that had not seen the sample's fold; 0 for other samples."""
    logits = np.zeros(truth.shape, np.float32)
    rows = np.flatnonzero(learns)
    families = [sample.family or sample.text for sample, learned in zip(seen, learns, strict=True) if learned]
    for _, fold in GroupKFold(FOLDS).split(rows, groups=families):
        left_out = np.zeros_like(learns)
        left_out[rows[fold]] = True
        logits[left_out] = _fit(views, truth, counts, learns & ~left_out).logits(views.rows(left_out))
    return logits


def _platt(logits: Vectors, truth: Labels) -> tuple[float, float]:
    scaling = LogisticRegression(C=1e6).fit(logits[:, np.newaxis], truth)
    return float(scaling.coef_[0, 0]), float(scaling.intercept_[0])


def rounded(heads: Heads) -> Heads:
    """Return the heads as loaded from their file, so that they are measured with the precision that is shipped."""
    with tempfile.TemporaryDirectory() as folder:
        save(heads, Path(folder) / "heads.npz")
        return Heads.load(Path(folder) / "heads.npz")


def save(heads: Heads, path: Path) -> None:
    """Write the heads in half precision, n-gram weights as int8; the same heads give the same bytes."""
    scale = np.maximum(np.abs(heads.ngram_weights).max(axis=0), 1e-9) / 127
    network = heads.tokens
    of_tokens = {f"token_{part}": getattr(network, part).astype(np.float16) for part in TOKEN_PARTS} if network else {}
    np.savez_compressed(
        path,
        names=np.array(heads.names),
        embedding_weights=heads.embedding_weights.astype(np.float16),
        ngram_weights=np.round(heads.ngram_weights / scale).astype(np.int8),
        ngram_scale=scale.astype(np.float32),
        bias=heads.bias.astype(np.float32),
        hate_hidden=heads.hate.hidden.astype(np.float16),
        hate_bias=heads.hate.bias.astype(np.float16),
        hate_out=heads.hate.out.astype(np.float16),
        embedder=heads.embedder,
        **of_tokens,
    )


def train_and_write(data: Path, claims: Path, out: Path, cache: Path, picture: Path) -> str:
    """Train on the data sets under `data` and the claim files in `claims`, and return the model cards.

    Writes `heads.npz` and the cards into `out`, and the reliability plot to `picture`.
    """
    samples = read_samples(data, claims)
    vectors = embed_cached([sample.text for sample in samples], cache)
    heads = train(samples, vectors, E5Embedder.name)
    read = usable(samples)
    states = states_cached([samples[row].text for row in read], cache.with_name(f"{cache.stem}-tokens.npz"))
    of_others = heads.probabilities(vectors[read], [samples[row].text for row in read])[:, NAMES.index(HATE)]
    tokens = fit_tokens([samples[row] for row in read], states, of_others)
    heads = replace(heads, tokens=tokens)
    out.mkdir(parents=True, exist_ok=True)
    save(heads, out / "heads.npz")
    digest = hashlib.sha256((out / "heads.npz").read_bytes()).hexdigest()
    unseen = [row for row, sample in enumerate(samples) if sample.part is not Part.TRAIN]
    reported = [samples[row] for row in unseen]
    without = heads.probabilities(vectors[unseen], [sample.text for sample in reported])
    scores, of_hate = without.copy(), NAMES.index(HATE)
    states_of = dict(zip(read, states, strict=True))
    for row, score in zip(unseen, scores, strict=True):
        score[of_hate] = tokens.hate(float(score[of_hate]), states_of[row].astype(np.float32))
    measured = Measurement(reported, scores)
    reliability_plot.draw(reliability(measured, measured.flags(Part.REPORT)), picture)
    training = [sample for sample in samples if sample.part is Part.TRAIN]
    cards = model_cards.write(measured, Measurement(reported, without), training, digest)
    for name, card in cards.items():
        (out / f"{name}.md").write_text(card, encoding="utf-8")
    return "\n".join(cards.values())
