"""Train the layers for pairs, and write them with their card. Needs `train` and `dev`."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from models.e5 import PAIR_QUESTIONS
from models.e5_file import E5File, find
from models.e5_onnx import OnnxE5Embedder
from models.e5_tuned import PAIRS
from models.embed import Vectors
from models.embedders import default_embedder
from training import low_rank, tuned_layers
from training.heads.sample import Part
from training.low_rank import Tensors
from training.pair_layers.data import OPPOSES, Pair, read_pairs
from training.pair_layers.model_card import write_card
from training.saving import save

SEED = 0
LONGEST = 212
"""Most tokens of a pair that are learned from; nearly all have fewer."""
CARD = "e5_pairs.md"


def train_and_write(data: Path, root: Path, cache: Path) -> str:
    """Train, on real posts under `data` too; write the file and its card under `root`, and return the card."""
    pairs = read_pairs(data)
    states = _cached(pairs, cache)
    taught = [row for row, pair in enumerate(pairs) if pair.part is Part.TRAIN]
    held = tuned_layers.frozen(E5File(find()))
    adapters, heads = _tune([pairs[row] for row in taught], [states[row] for row in taught], held)
    weights = heads["w"].numpy().copy()
    low_rank.without_scaled_mean(weights)
    shipped = tuned_layers.for_the_graph(adapters) | {"summed": weights, "bias": heads["b"].numpy()}
    path = root / "models" / "data" / PAIRS
    save(path, shipped)
    return measure_and_write_card(pairs, path)


def measure_and_write_card(pairs: Sequence[Pair], path: Path) -> str:
    """Measure the shipped file as it is used, on pairs that are kept apart; write its card and return it."""
    taught = [pair for pair in pairs if pair.part is Part.TRAIN]
    posts = {pair.first for pair in taught if pair.question == OPPOSES}
    apart = [pair for pair in pairs if pair.part is not Part.TRAIN and pair.first not in posts]
    scores = asyncio.run(_scores([(pair.first, pair.second) for pair in apart]))
    card = write_card(taught, apart, scores, hashlib.sha256(path.read_bytes()).hexdigest())
    path.with_name(CARD).write_text(card, encoding="utf-8")
    return card


def _cached(pairs: Sequence[Pair], cache: Path) -> list[Vectors]:
    """Return the beginnings of pairs' states after layer SHARED, from `cache` if it holds exactly these pairs."""

    async def read(embedder: OnnxE5Embedder) -> list[Vectors]:
        texts = [(pair.first, pair.second) for pair in pairs]
        return [states[:LONGEST] for states in await embedder.shared_states_of_pairs(texts)]

    return tuned_layers.kept_states([pair.first + pair.second for pair in pairs], cache, read)


def _tune(pairs: Sequence[Pair], states: Sequence[Vectors], held: Tensors) -> tuple[Tensors, Tensors]:
    """Return adapters, and the weights `w` and biases `b` of a linear head for each question."""
    chance = torch.Generator().manual_seed(SEED)
    adapters = tuned_layers.adapters(chance)
    heads: Tensors = {}
    heads["w"], heads["b"] = low_rank.new_head(len(PAIR_QUESTIONS), tuned_layers.POOLED, chance)
    answers = np.array([pair.answer for pair in pairs], np.float32)
    counts = np.array([pair.weight for pair in pairs], np.float32)
    asked = torch.tensor([PAIR_QUESTIONS.index(pair.question) for pair in pairs])

    def loss(pooled: Any, rows: Sequence[int]) -> Any:
        logits = functional.linear(pooled, heads["w"], heads["b"]).gather(1, asked[rows][:, None])[:, 0]
        return low_rank.yes_or_no(logits, answers[rows], counts[rows])

    tuned_layers.optimise(states, held, adapters, heads, loss, SEED)
    return adapters, heads


async def _scores(pairs: Sequence[tuple[str, str]]) -> Vectors:
    """Return the log odds of each question by the shipped file, shape (pairs, questions)."""
    embedder = default_embedder()
    try:
        return await embedder.read_pairs(pairs)
    finally:
        await embedder.close()
