"""Train the reader of threats, and write it with its card. Needs `train` and `dev`, and the fetched model."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from models.embed import Vectors
from models.embedders import default_embedder
from models.mpnet import WINDOW
from pipeline.second_opinion import THREAT, SecondOpinion, log_odds
from pipeline.threat_reader import FILE, ThreatReader
from pipeline.threats import ThreatHead
from training import mpnet_layers
from training.heads.sample import Part
from training.low_rank import Tensors
from training.post_layers.lessons import UNSEEN_ORIGIN, Lesson
from training.threat_reader.data import read_threat_lessons
from training.threat_reader.model_card import Outcome, write_card
from training.threat_reader.tuning import OPINIONS, tune

SEED = 0
CARD = "threat_reader.md"
SHARES = 0.35, 0.65
"""Weights of the first opinion's log odds and the model's, before their sum is scaled to be a probability again."""


def train_and_write(data: Path, root: Path, model_file: Path, cache: Path) -> str:
    """Train on the data sets under `data`; write the file and its card under `root`, and return the card.

    The adapters are kept in `cache`, and used again if it was made from the same lessons and weights.
    """
    taught, apart = read_threat_lessons(data, root)
    adapters, heads = _tuned(taught, model_file, cache)
    path = root / "pipeline" / "data" / FILE
    _save(path, adapters, heads, np.array([*SHARES, 0.0], np.float32))
    firsts = asyncio.run(_firsts(apart))
    reader = ThreatReader.load(model_file, path)
    seconds = np.array([reader.log_odds(lesson.text)[0] for lesson in apart])
    shares = _calibrated(apart, firsts, seconds)
    _save(path, adapters, heads, shares)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    card = write_card(taught, Outcome(apart, firsts, seconds, shares), digest)
    path.with_name(CARD).write_text(card, encoding="utf-8")
    return card


def _tuned(taught: Sequence[Lesson], model_file: Path, cache: Path) -> tuple[Tensors, Tensors]:
    def tune_now() -> tuple[Tensors, Tensors]:
        weights, tokenizer = mpnet_layers.opened(model_file)
        tokens = [tokenizer.tokens(each.text, WINDOW - 2) for each in taught]
        return tune(taught, tokens, weights, SEED)

    told = [(each.text, each.opinions) for each in taught]
    return mpnet_layers.tuned_or_kept(told, model_file, cache, tune_now)


def _save(path: Path, adapters: Tensors, heads: Tensors, shares: Vectors) -> None:
    """Write adapters and the head for threats."""
    row = OPINIONS.index(THREAT)
    weights = mpnet_layers.weights_in_service(heads["w"])[row]
    mpnet_layers.save(path, adapters, {"weights": weights, "bias": heads["b"][row].numpy(), "shares": shares})


async def _firsts(lessons: Sequence[Lesson]) -> Vectors:
    """Return the probability of a threat by the shipped heads and layers for posts, shape (lessons,)."""
    embedder, threats, opinion = default_embedder(), ThreatHead.load(), SecondOpinion.load()
    firsts = []
    for lesson in lessons:
        reading = await embedder.read(lesson.text)
        first = threats.score(lesson.text, reading.vector)
        summed = reading.summed
        firsts.append(first if summed is None else opinion.beside({THREAT: first}, summed)[THREAT])
    await embedder.close()
    return np.array(firsts)


def _calibrated(lessons: Sequence[Lesson], firsts: Vectors, seconds: Vectors) -> Vectors:
    """Return SHARES, scaled so that both opinions together are a probability on posts in their natural mix."""
    rows = [row for row, each in enumerate(lessons) if each.part is Part.CALIBRATE and each.origin == UNSEEN_ORIGIN]
    truth = [lessons[row].opinions[THREAT][0] for row in rows]
    joint = SHARES[0] * log_odds(firsts) + SHARES[1] * seconds
    scaling = LogisticRegression(C=1.0).fit(joint[rows, np.newaxis], truth)
    slope = float(scaling.coef_[0, 0])
    return np.array([SHARES[0] * slope, SHARES[1] * slope, float(scaling.intercept_[0])], np.float32)
