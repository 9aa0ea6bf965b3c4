"""Train the head of self-harm, and write its weights and model card. Needs scikit-learn (the `dev` extra)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from core.settings import TriageSettings
from models.embed import Vectors
from models.embedders import default_embedder
from pipeline import routing_rules
from pipeline.scoring import LONGEST_READ
from pipeline.self_harm import SelfHarmHead
from training.heads.sample import Part
from training.saving import save
from training.self_harm.data import HOSTILE, LANGUAGES, OWN, REAL, UNSEEN, Sample, read_samples

STRENGTH = 10.0
"""Inverse of the penalty (`C`); from 5 to 60 the figures hardly change."""
COUNTS = {REAL: 0.3, HOSTILE: 0.3}
"""Weights of texts that nobody read for self-harm."""
FILE, CARD_FILE = "self_harm.npz", "self_harm.md"

CARD = """# Head of self-harm

Written on {day} by `rejoinder train self-harm`; do not edit. A logistic regression over the query embedding of the
default embedder (multilingual-e5-small, 384-d). `self_harm.npz` has sha256 `{digest}`.

**For**: handing posts to people whose author, or somebody near, may harm themselves and only hints at it. Plain words
are found by the patterns of the rule ([card](threat.md#self-harm-and-child-safety)), whatever this head says. **Not
for**: judging how great the danger is, or anybody's health. From {limit} on (`triage.self_harm_from`) a post goes to
people.

Trained on {own:,} posts of our own in four languages, {risk:,} of them with a risk (`training/self_harm`; two language
models wrote those of each language), on {hostile:,} wordings of claims on file and own posts, and on {real:,} real
English posts. The last two are taken to be without a risk.

| posts of another writer | with a risk | patterns find | head finds | together | others | alarms | AUC of the head |
|---|--:|--:|--:|--:|--:|--:|--:|
{unseen}

| hostile texts kept apart, and held-out real posts | texts | patterns find | head finds | together |
|---|--:|--:|--:|--:|
{alarms}

Nothing was fitted to the posts in these tables, but the limit was chosen with them in view.

## Limits

Real posts with a risk could not be had, so its recall on these is unknown. Language models wrote all sentences, and no
speaker of Spanish, Italian or Basque has read them. It reads the first {longest:,} characters of a post, and a hint
within much else is lost. Its usual alarms are people who talk of themselves, of
dates and quarrels above all: of 38 real posts found on 2026-11-29, read by eye, none is plainly of a person at risk.
"""


def train_and_write(data: Path, out: Path, cache: Path) -> str:
    """Train on the lists and on real posts under `data`; write weights and card to `out`, and return the card."""
    samples = read_samples(data)
    vectors = _embedded([sample.text[:LONGEST_READ] for sample in samples], cache)
    taught = np.array([sample.part is Part.TRAIN for sample in samples])
    head = fit(vectors[taught], [sample for sample in samples if sample.part is Part.TRAIN])
    path = out / FILE
    save(path, {"weights": head.weights, "bias": np.float32(head.bias), "embedder": np.array(head.embedder)})
    kept = SelfHarmHead.load(path)
    scores = np.array([kept.score(vector) for vector in vectors])
    card = _card(samples, scores, hashlib.sha256(path.read_bytes()).hexdigest())
    (out / CARD_FILE).write_text(card, encoding="utf-8")
    return card


def fit(vectors: Vectors, samples: Sequence[Sample]) -> SelfHarmHead:
    """Return the head that tells the samples with a risk, given their vectors of shape (n, d)."""
    counts = [COUNTS.get(sample.origin, 1.0) for sample in samples]
    model = LogisticRegression(C=STRENGTH, max_iter=3000)
    model.fit(vectors, [sample.risk for sample in samples], sample_weight=counts)
    return SelfHarmHead(model.coef_[0].astype(np.float32), float(model.intercept_[0]), default_embedder().name)


def _embedded(texts: Sequence[str], cache: Path) -> Vectors:
    """Return the texts' query embeddings, shape (n, d), from `cache` if it holds exactly these."""
    digest = hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()
    if cache.exists():
        with np.load(cache) as kept:
            if str(kept["digest"]) == digest:
                return np.asarray(kept["vectors"])

    async def embed() -> Vectors:
        embedder = default_embedder()
        try:
            return await embedder.queries(texts)
        finally:
            await embedder.close()

    vectors = asyncio.run(embed())
    np.savez(cache, digest=np.array(digest), vectors=vectors)
    return vectors


def _card(samples: Sequence[Sample], scores: Vectors, digest: str) -> str:
    own = [sample for sample in samples if sample.origin == OWN]
    return CARD.format(
        day=datetime.now(UTC).date(),
        digest=digest,
        limit=TriageSettings().self_harm_from,
        own=len(own),
        risk=sum(sample.risk for sample in own),
        hostile=sum(sample.origin == HOSTILE and sample.part is Part.TRAIN for sample in samples),
        real=sum(sample.origin == REAL and sample.part is Part.TRAIN for sample in samples),
        unseen="\n".join(_unseen_rows(samples, scores)),
        alarms="\n".join(_alarm_rows(samples, scores)),
        longest=LONGEST_READ,
    )


def _unseen_rows(samples: Sequence[Sample], scores: Vectors) -> Iterator[str]:
    for language in LANGUAGES:
        rows = [row for row, each in enumerate(samples) if each.origin == UNSEEN and each.language == language]
        risk = [row for row in rows if samples[row].risk]
        others = [row for row in rows if not samples[row].risk]
        found = [_found(samples[row], float(scores[row])) for row in risk]
        alarms = sum(any(_found(samples[row], float(scores[row]))) for row in others)
        area = roc_auc_score([samples[row].risk for row in rows], scores[rows])
        counts = f"{sum(by for by, _ in found)} | {sum(head for _, head in found)} | {sum(map(any, found))}"
        yield f"| {language} | {len(risk)} | {counts} | {len(others)} | {alarms} | {area:.2f} |"


def _alarm_rows(samples: Sequence[Sample], scores: Vectors) -> Iterator[str]:
    for origin, language in [*((HOSTILE, language) for language in LANGUAGES), (REAL, "en")]:
        rows = [
            row for row, each in enumerate(samples)
            if (each.origin, each.language, each.part) == (origin, language, Part.REPORT)
        ]  # fmt: skip
        found = [_found(samples[row], float(scores[row])) for row in rows]
        counts = (sum(by for by, _ in found), sum(head for _, head in found), sum(map(any, found)))
        yield f"| {origin}, {language} | {len(rows):,} | {' | '.join(map(str, counts))} |"


def _found(sample: Sample, score: float) -> tuple[bool, bool]:
    """Tell whether the patterns find a sample, and whether the head does."""
    rule = routing_rules.rule(routing_rules.SELF_HARM)
    by_patterns = rule.pattern.search(routing_rules.folded(sample.text)) is not None
    return by_patterns, score >= TriageSettings().self_harm_from
