"""Train the layers for posts and the second opinions, and write them with one card. Needs `train` and `dev`."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from kb.claims.loading import load_claims
from kb.claims.second_opinion import NAMES as OPINION_FILES
from models.e5_file import E5File, find
from models.e5_onnx import OnnxE5Embedder
from models.e5_tuned import POSTS
from models.embed import Vectors
from pipeline.heads import HATE
from training import low_rank, tuned_layers
from training.heads.sample import Part
from training.post_layers import tuning
from training.post_layers.first_opinions import read_first
from training.post_layers.lessons import Lesson, read_lessons, thinned
from training.post_layers.model_card import Outcome, write_card
from training.post_layers.opinions import Shares, Sums
from training.post_layers.readings import drawn_portions, fit_opinions, sums_of
from training.saving import arrays_of, save

LONGEST = 64
"""Most tokens of a text that are used for training."""
SEED = 0
OPINION_FILE, CARD = "second_opinion.npz", "e5_posts.md"
SHARES = Shares({HATE: (0.7, 0.3)}, (0.4, 0.6, 0.0))
"""For hate the first opinion counts more, as it reads the tokens itself; a little more of the second changed nothing on
the calibration half of the flags, but reads disguised hate better.

The gate's are set on the half of the evidence yardstick that calibrates and on the first fresh posts: of real flags the
judge knows more, of posts in plain words the layers, which learned from near twins.
"""
NAME_LENGTH = 12
"""Hexadecimal digits of the adapters' digest that serve as the layers' name."""
HELD_OUT_ORIGINS = frozenset({"CrowdCounter replies"})
"""Origins that are not measured here, since the second opinion hardly changes their heads."""


def train_and_write(data: Path, root: Path, cache: Path) -> str:
    """Train on the data sets under `data`, write the three files and their card under `root`, and return the card."""
    claims = load_claims()
    lessons = read_lessons(data, claims, root / "kb" / "claims")
    taught = thinned(lessons)
    states = _cached([lesson.text for lesson in taught], cache)
    held = tuned_layers.frozen(E5File(find()))
    tuned = _tuned(taught, states, held, list(claims.claims), cache.with_suffix(".tuned.pt"))
    sums = _sums(tuned, held, states)
    shipped = tuned_layers.for_the_graph(tuned.adapters) | {"summed": sums.summed, "bias": sums.bias}
    save(root / "models" / "data" / POSTS, shipped)
    layers_name = hashlib.sha256((root / "models" / "data" / POSTS).read_bytes()).hexdigest()[:NAME_LENGTH]
    held_out = [lesson for lesson in lessons if lesson.part is not Part.TRAIN and lesson.origin not in HELD_OUT_ORIGINS]
    read = zip(held_out, asyncio.run(read_first(held_out, with_layers=False)), strict=True)
    with_reading = [(lesson, first, summed) for lesson, (first, summed) in read if summed is not None]
    unseen, firsts, readings = (list(column) for column in zip(*with_reading, strict=True))
    opinion, on_claims = fit_opinions(tuned, sums, unseen, firsts, np.stack(readings), SHARES)
    save(root / "pipeline" / "data" / OPINION_FILE, arrays_of(replace(opinion, layers=layers_name)))
    save(root / "kb" / "data" / OPINION_FILES[0], arrays_of(on_claims))
    written = [Path("models/data") / POSTS, Path("pipeline/data") / OPINION_FILE, Path("kb/data") / OPINION_FILES[0]]
    digests = {str(path): hashlib.sha256((root / path).read_bytes()).hexdigest() for path in written}
    card = write_card(taught, Outcome(unseen, firsts, np.stack(readings), opinion, on_claims), digests)
    (root / "models" / "data" / CARD).write_text(card, encoding="utf-8")
    return card


def _tuned(
    taught: Sequence[Lesson], states: Sequence[Vectors], held: low_rank.Tensors, claims: Sequence[str], kept: Path
) -> tuning.Tuned:
    """Return the tuned layers, from the file `kept` if it was made from the same lessons and weights."""
    told = [
        (each.text, each.origin, each.opinions, each.kind, sorted(each.claims or ()), each.answerable, each.counts)
        for each in taught
    ]
    weights = tuning.HEADS_SHARE, tuning.CLAIMS_SHARE, tuning.CLAIM_COUNTS
    digest = hashlib.sha256(repr((told, claims, weights)).encode("utf-8", "replace")).hexdigest()
    if kept.exists() and (before := torch.load(kept))["digest"] == digest:
        return tuning.Tuned(before["adapters"], before["heads"], tuple(claims))
    chance = torch.Generator().manual_seed(SEED)
    tuned = tuning.blank(tuned_layers.adapters(chance), claims, chance)
    tuning.tune(taught, states, held, tuned, SEED)
    torch.save({"digest": digest, "adapters": tuned.adapters, "heads": tuned.heads}, kept)
    return tuned


def _cached(texts: Sequence[str], cache: Path) -> list[Vectors]:
    """Return the beginnings of texts' states after layer SHARED, from `cache` if it holds exactly these texts."""

    async def read(embedder: OnnxE5Embedder) -> list[Vectors]:
        return [states[:LONGEST] for states in await embedder.shared_states(texts)]

    return tuned_layers.kept_states(texts, cache, read)


def _sums(tuned: tuning.Tuned, held: low_rank.Tensors, states: Sequence[Vectors]) -> Sums:
    parts = [
        tuned_layers.pooled(*tuned_layers.padded([states[row] for row in rows]), held, tuned.adapters)
        for rows in drawn_portions([len(each) for each in states])
    ]
    return sums_of(tuned, torch.cat(parts).numpy())
