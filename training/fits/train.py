"""Train the head of the check `fits`, and write its weights and model card. Needs scikit-learn (the `dev` extra)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from pipeline.guard.sentence_head import FITS
from training.fits.data import read_samples
from training.stances.train import as_npz, rows_by_kind, train, views_of

CARD = """# Fits head

A network of the stance head's form (embeddings of a sentence and of the post it answers, and ten cues),
written by `rejoinder train fits`. Do not edit: the command writes this page together with the weights.

**For**: the hard check `fits` on sentences that a model wrote: do they answer anything, or do they speak of other
things, of themselves, or for all sides at once? **Not for**: telling whether a fact answers this claim rather than
another, or acting without a person. It knows English, Spanish, Italian and Basque; the Basque and part of the others
were written by nobody who grew up with them.

sha256 `{digest}`

## Trained on {count:,} pairs of post and sentence

Counter-claims and short facts on file (good); values, corrections, warm openings, questions and appeals written for
this project (good); sentences off the topic, evasive, about the reply itself, or politely agreeing (bad), in
`training/fits` and `training/stances`. No draft of the red team.

## Measured by cross-validation over sentences

Stopped: scored under 0.5. A draft is stopped where its best sentence scores less than `guard.min_fit`, or any less than
`guard.min_sentence_fit`; what that does within the guard stands in `docs/drafting.md`.

| kind | label | pairs | stopped |
|---|---|---:|---:|
{rows}

AUC over all: {auc:.3f}.
"""


def train_and_write(out: Path, cache: Path) -> str:
    """Train, write `fits.npz` and `fits.md` into `out`, and return the card's table."""
    samples = read_samples()
    head, unseen = train(samples, views_of(samples, cache))
    weights = as_npz(head)
    rows = "\n".join(rows_by_kind(samples, unseen))
    auc = roc_auc_score(np.array([sample.good for sample in samples]), unseen)
    digest = hashlib.sha256(weights).hexdigest()
    out.mkdir(parents=True, exist_ok=True)
    (out / FITS).write_bytes(weights)
    card = CARD.format(count=len(samples), rows=rows, auc=auc, digest=digest)
    (out / FITS).with_suffix(".md").write_text(card, encoding="utf-8")
    return rows
