"""Train the toxicity head, and write its weights and model card. Needs scikit-learn (the `dev` extra)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from models.toxicity import BITS, ToxicityHead, features
from training.toxicity.data import Sample, read_samples
from training.toxicity.sentences import GROUPS

C = 2.0
"""Inverse regularisation (scikit-learn's C)."""
TOXIC_SHARE = 0.4
"""Share of toxic texts in the total weight: less than half, because most replies that reach the check are civil."""
NEGLIGIBLE = 0.003
"""Weights below this are dropped: they compress to nothing and change no score by more than a rounding."""


def matrix(texts: Sequence[str]) -> csr_matrix:
    """Return the feature matrix of `texts`, shape (n, 2 ** BITS)."""
    rows = [features(text) for text in texts]
    ends = np.cumsum([0, *(len(buckets) for buckets, _ in rows)])
    values = np.concatenate([weights for _, weights in rows])
    buckets = np.concatenate([buckets for buckets, _ in rows])
    return csr_matrix((values, buckets, ends), shape=(len(rows), 1 << BITS))


def train(seen: Sequence[Sample]) -> ToxicityHead:
    """Return the head fitted on `seen`, rounded as it is shipped."""
    labels = np.array([sample.toxic for sample in seen])
    weights = np.array([sample.weight for sample in seen])
    for label, share in ((True, TOXIC_SHARE), (False, 1 - TOXIC_SHARE)):
        weights[labels == label] *= share * len(seen) / weights[labels == label].sum()
    model = LogisticRegression(C=C, max_iter=300).fit(matrix([sample.text for sample in seen]), labels, weights)
    kept = np.where(np.abs(model.coef_[0]) < NEGLIGIBLE, 0, model.coef_[0])
    # Half precision, so that the head is measured as it is shipped.
    return ToxicityHead(kept.astype(np.float16).astype(np.float32), float(model.intercept_[0]))


def measure(head: ToxicityHead, unseen: Sequence[Sample]) -> list[str]:
    """Return the rows of the model card's table: one per origin, and one for all of CrowdCounter."""
    groups: dict[str, list[Sample]] = defaultdict(list)
    for sample in unseen:
        groups[sample.origin].append(sample)
        if sample.origin.startswith("CrowdCounter"):
            groups["CrowdCounter, posts against replies"].append(sample)
    scores = {id(sample): head.score(sample.text) for sample in unseen}
    return [
        _row(origin, np.array([s.toxic for s in group]), np.array([scores[id(s)] for s in group]))
        for origin, group in groups.items()
    ]


def _row(origin: str, toxic: NDArray[np.bool_], scores: NDArray[np.float64]) -> str:
    both = toxic.any() and not toxic.all()
    auc = f"{roc_auc_score(toxic, scores):.3f}" if both else "-"
    caught = f"{(scores[toxic] >= 0.5).mean():.3f}" if toxic.any() else "-"
    alarms = f"{(scores[~toxic] >= 0.5).mean():.3f}" if not toxic.all() else "-"
    strict = f"{(scores[~toxic] >= 0.8).mean():.3f}" if not toxic.all() else "-"
    return f"| {origin} | {len(toxic):,} | {auc} | {caught} | {alarms} | {strict} |"


CARD = """# Toxicity head

A logistic regression over hashed word and character n-grams ({buckets:,} buckets, half precision), written by
`rejoinder train toxicity`. Do not edit: the command writes this page together with the weights, `toxicity.npz`,
sha256 `{digest}`.

**For**: a hard check on reply drafts (`guard.max_toxicity`): is this reply insulting? **Not for**: deciding whether a
post is hateful, ranking people, or acting without a person. It sees letters, not meaning: hate put politely scores
low, a slur quoted in order to condemn it may score high. English only.

## Trained on {seen:,} texts

Davidson 2017 (MIT; hate and offensive count as toxic; counted half), HateXplain validation part (MIT), EDOS (CC0; "not
sexist" counts a quarter, since it does not mean "not toxic"), HatemojiBuild (CC BY 4.0), Wikipedia comments of the
ConversationAI bias set (CC BY 4.0), CrowdCounter (MIT; the posts toxic, the human counterspeech not, times 3),
sentences of human-rights treaties, and sentences written for this project (`training/toxicity/sentences.py`): neutral
and hostile ones about {groups} groups, mild insults, the same words mentioned but not used, everyday phrases (times 4
to 12). No text of the data sets is shipped, only weights of hashed features.

## Measured on {unseen:,} held-out texts

Caught: toxic texts scored 0.5 or more. False alarms: other texts scored 0.5 (0.8) or more. Sentences about groups are
held out by sentence and by group at once; treaties by document; IBM arguments were never trained on.

| held-out part | texts | AUC | caught at 0.5 | false alarms at 0.5 | at 0.8 |
|---|---|---|---|---|---|
{rows}

The training parameters were chosen by looking at this table, so its figures are somewhat optimistic.
"""


def train_and_write(data: Path, rights: Path | None, out: Path) -> str:
    """Train on the data sets under `data`, write `toxicity.npz` and `toxicity.md` into `out`, return its table."""
    samples = list(read_samples(data, rights))
    seen = [sample for sample in samples if not sample.held_out]
    texts_seen = {sample.text for sample in seen}
    unseen = [sample for sample in samples if sample.held_out and sample.text not in texts_seen]
    head = train(seen)
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / "toxicity.npz", weights=head.weights.astype(np.float16), bias=np.float32(head.bias))
    rows = "\n".join(measure(head, unseen))
    card = CARD.format(buckets=1 << BITS, seen=len(seen), unseen=len(unseen), groups=len(GROUPS), rows=rows,
                       digest=hashlib.sha256((out / "toxicity.npz").read_bytes()).hexdigest())  # fmt: skip
    (out / "toxicity.md").write_text(card, encoding="utf-8")
    return rows
