"""Train the reader of posts, and write its files with their card. Needs `train` and `dev`, and the fetched model."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from core.domain import clean
from kb.claims.loading import load_claims
from kb.claims.second_opinion import NAMES as OPINION_FILES
from models.embed import Vectors
from models.mpnet import WINDOW
from pipeline.heads import HATE
from pipeline.normalise import spelled_out
from pipeline.post_reader import FILE, PostReader
from pipeline.second_opinion import THREAT, SecondOpinion
from training import mpnet_layers
from training.low_rank import Tensors
from training.post_layers.first_opinions import read_first
from training.post_layers.lessons import Lesson
from training.post_layers.model_card import Outcome
from training.post_layers.opinions import First, Shares, Sums, fit_opinions, sums_of
from training.post_layers.train import HELD_OUT_ORIGINS, NAME_LENGTH, arrays_of, save
from training.post_layers.tuning import Tuned
from training.post_reader.data import read_post_lessons
from training.post_reader.model_card import write_card
from training.post_reader.tuning import tune

SEED = 0
CARD = "post_reader.md"
SHARES = Shares({THREAT: (0.35, 0.65), HATE: (0.5, 0.5)}, (0.5, 0.5, 0.0))
SUMMED_FROM, AT_ONCE = 20_000, 64
"""Most texts used to decide what a reading preserves, and how many are read at once."""


def train_and_write(data: Path, root: Path, model_file: Path, cache: Path) -> str:
    """Train on the data sets under `data`; write the files and their card under `root`, and return the card.

    The adapters are kept in `cache`, and used again if it was made from the same lessons and weights.
    """
    taught, apart = read_post_lessons(data, root)
    claims = list(load_claims().claims)
    tuned, sums = _tuned(taught, claims, model_file, cache)
    path, on_claims = root / "pipeline" / "data" / FILE, root / "kb" / "data" / OPINION_FILES[1]
    layers = hashlib.sha256(b"".join(each.numpy().tobytes() for each in tuned.adapters.values())).hexdigest()
    blank = SecondOpinion(layers[:NAME_LENGTH], (), *np.zeros((3, 0, sums.summed.shape[0]), np.float32))
    _save(path, tuned.adapters, sums, blank)
    reader = PostReader.load(model_file, path)
    measured = [lesson for lesson in apart if lesson.origin not in HELD_OUT_ORIGINS]
    lessons, firsts, readings = _readings(measured, reader)
    opinion, of_claims = fit_opinions(tuned, sums, lessons, firsts, readings, SHARES)
    opinion = SecondOpinion(blank.layers, opinion.names, opinion.weights, opinion.bias, opinion.shares)
    _save(path, tuned.adapters, sums, opinion)
    save(on_claims, {"claims": np.array(of_claims.claims), **arrays_of(of_claims)})
    digests = {str(each.relative_to(root)): hashlib.sha256(each.read_bytes()).hexdigest() for each in (path, on_claims)}
    card = write_card(taught, Outcome(lessons, firsts, readings, opinion, of_claims), digests)
    path.with_name(CARD).write_text(card, encoding="utf-8")
    return card


def _tuned(taught: Sequence[Lesson], claims: Sequence[str], model_file: Path, cache: Path) -> tuple[Tuned, Sums]:
    weights, tokenizer = mpnet_layers.opened(model_file)
    tokens = [tokenizer.tokens(clean(spelled_out(each.text)), WINDOW - 2) for each in taught]

    def tune_now() -> tuple[Tensors, Tensors]:
        return tune(taught, tokens, weights, claims, SEED)

    told = [
        (each.text, each.opinions, each.kind, sorted(each.claims or ()), each.answerable, each.counts, each.origin)
        for each in taught
    ]
    tuned = Tuned(*mpnet_layers.tuned_or_kept((told, claims), model_file, cache, tune_now), tuple(claims))
    drawn = np.random.default_rng(SEED).permutation(len(taught))[:SUMMED_FROM].tolist()
    drawn.sort(key=lambda number: len(tokens[number]))
    portions = [drawn[start : start + AT_ONCE] for start in range(0, len(drawn), AT_ONCE)]
    with torch.no_grad():
        pooled: list[Any] = [
            mpnet_layers.pooled([tokens[row] for row in rows], weights, tuned.adapters) for rows in portions
        ]
    return tuned, sums_of(tuned, torch.cat(pooled).numpy())


def _save(path: Path, adapters: Tensors, sums: Sums, opinion: SecondOpinion) -> None:
    """Write adapters, the map from pooled states to readings, and the opinion on readings."""
    arrays = arrays_of(opinion) | {"summed": sums.summed, "summed_bias": sums.bias}
    arrays |= {name: tensor.numpy() for name, tensor in adapters.items()}
    save(path, arrays | {"layers": np.array(opinion.layers), "names": np.array(opinion.names, np.str_)})


def _readings(lessons: Sequence[Lesson], reader: PostReader) -> tuple[list[Lesson], list[First], Vectors]:
    """Return the lessons that the reader reads at once, the first opinions on them, and the readings."""
    read = asyncio.run(read_first(lessons, with_layers=True))
    wholes = [reader.read_now(lesson.text).whole for lesson in lessons]
    rows = [row for row, whole in enumerate(wholes) if whole is not None]
    readings = np.stack([whole for whole in wholes if whole is not None])
    return [lessons[row] for row in rows], [read[row][0] for row in rows], readings
