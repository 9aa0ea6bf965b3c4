"""Train the stance head, and write its weights and model card. Needs scikit-learn (the `dev` extra)."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from pipeline.guard.sentence_head import STANCE, SentenceHead, Vectors, cue_row, features
from training.heads.train import embed_cached
from training.stances.data import Sample, read_samples
from training.stances.network import UNITS, fit_network

SEEDS = 2
"""Networks whose mean is the head; each starts from another seed."""
KIND_COUNTS = 1200
"""Most that the samples of one kind may weigh together, so that the many claims on file don't dominate."""
FOLDS = 4


@dataclass(frozen=True)
class Views:
    """The head's input: the vectors of sentences and posts, shape (n, d) each, and their cues."""

    sentences: Vectors
    posts: Vectors
    cues: Vectors


def weights_of(samples: Sequence[Sample]) -> NDArray[np.float64]:
    """Return the weight of each sample: large kinds are limited, and both labels sum to the same."""
    totals = Counter[str]()
    for sample in samples:
        totals[sample.kind] += 1
    weights = np.array([sample.weight * min(1.0, KIND_COUNTS / totals[sample.kind]) for sample in samples])
    good = np.array([sample.good for sample in samples])
    weights[good] *= weights[~good].sum() / weights[good].sum()
    return weights


def train(samples: Sequence[Sample], views: Views) -> tuple[SentenceHead, NDArray[np.float64]]:
    """Return the fitted head, and each sample's probability by a model that had not seen its source, shape (n,)."""
    mean = np.asarray(views.sentences.mean(axis=0), np.float32)
    good = np.array([sample.good for sample in samples])
    weights = weights_of(samples)
    columns = features(views.sentences, views.posts, views.cues, mean)
    everything = np.arange(len(samples))
    unseen = np.zeros(len(samples))
    for rest, fold in GroupKFold(FOLDS).split(everything, good, [sample.source for sample in samples]):
        model = fit_network(columns[rest], good[rest], weights[rest], seeds=1)
        unseen[fold] = 1 / (1 + np.exp(-np.clip(model.network.logits(columns[fold])[:, 0] + model.bias, -30, 30)))
    model = fit_network(columns, good, weights, SEEDS)
    return SentenceHead(mean, model.network, model.bias), unseen


CARD = """# Stance head

A network of one hidden layer (the mean of {seeds} of {units} units) on the embeddings of a sentence and of the post it
answers (each centred, and their product), and on ten cues, written by `rejoinder train stances`. Do not edit: the
command writes this page together with the weights.

**For**: a hard check on sentences that a model wrote: do they oppose the post and harm nobody? **Not for**: judging
whether a fact is true, judging people, or acting without a person. It knows English, Spanish, Italian and Basque.

sha256 `{digest}`

## Trained on {count:,} pairs of post and sentence

Counter-claims on file beside wordings of their claim (good); claims said over again, granted, half granted; sentences
written for this project (`training/stances/*.toml`, and near twins for one post each in `scenes`); replies of
CrowdCounter (MIT); and the half of the red team that checks may be tuned on. No text of a data set is shipped, only
weights.

## Measured by cross-validation over claims, lists and posts

Stopped: scored under 0.5.

| kind | label | pairs | stopped |
|---|---|---:|---:|
{rows}

AUC over all: {auc:.3f}. What it does within the guard stands in `docs/drafting.md`.
"""


def train_and_write(data: Path | None, out: Path, cache: Path) -> str:
    """Train, write `stance.npz` and `stance.md` into `out`, and return the card's table."""
    samples = read_samples(data)
    head, unseen = train(samples, views_of(samples, cache))
    rows = "\n".join(rows_by_kind(samples, unseen))
    good = np.array([sample.good for sample in samples])
    out.mkdir(parents=True, exist_ok=True)
    weights = as_npz(head)
    (out / STANCE).write_bytes(weights)
    digest = hashlib.sha256(weights).hexdigest()
    card = CARD.format(
        digest=digest, seeds=SEEDS, units=UNITS, count=len(samples), rows=rows, auc=roc_auc_score(good, unseen)
    )
    (out / STANCE).with_suffix(".md").write_text(card, encoding="utf-8")
    return rows


def views_of(samples: Sequence[Sample], cache: Path) -> Views:
    """Return the head's input for the samples; embeddings in `cache` are not computed again."""
    texts = [text for sample in samples for text in (sample.text, sample.post)]
    vectors = embed_cached(texts, cache)
    cue_rows = np.array([cue_row(sample.post, sample.text, sample.language) for sample in samples], np.float32)
    return Views(vectors[::2], vectors[1::2], cue_rows)


def rows_by_kind(samples: Sequence[Sample], unseen: NDArray[np.float64]) -> list[str]:
    """Return the rows of a card's table: the number of pairs of each kind, and the share that scores under 0.5."""
    kinds = sorted({(sample.good, sample.kind) for sample in samples})
    rows = []
    for good, kind in kinds:
        chosen = np.array([sample.kind == kind and sample.good is good for sample in samples])
        share = (unseen[chosen] < 0.5).mean()
        rows.append(f"| {kind} | {'good' if good else 'bad'} | {chosen.sum():,} | {share:.0%} |")
    return rows


def as_npz(head: SentenceHead) -> bytes:
    """Return a head as the bytes of the shipped file."""
    buffer = io.BytesIO()
    hidden, hidden_bias, out = (
        array.astype(np.float16) for array in (head.network.hidden, head.network.bias, head.network.out)
    )
    mean, bias = head.mean.astype(np.float16), np.float32(head.bias)
    np.savez_compressed(buffer, mean=mean, bias=bias, hidden=hidden, hidden_bias=hidden_bias, out=out)
    return buffer.getvalue()
