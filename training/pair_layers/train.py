"""Train the layers for pairs, and write them with their card. Needs `train` and `dev`."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from torch.nn import functional

from core.errors import BadSettings
from models.e5 import PAIR_QUESTIONS
from models.e5_file import E5File, find
from models.e5_onnx import OnnxE5Embedder
from models.e5_tuned import PAIRS
from models.embed import Vectors
from models.embedders import default_embedder
from training import tuned_layers
from training.heads.sample import Part
from training.pair_layers.data import OPPOSES, Pair, read_pairs
from training.pair_layers.model_card import write_card
from training.post_layers.tuning import portions

SEED = 0
LONGEST = 212
"""Most tokens of a pair that are learned from; nearly all have fewer."""
PASSES = 2
RATE, HEADS_RATE = 1e-3, 2e-3
WARM = 100
"""Steps over which the learning rate rises to the schedule, a falling cosine."""
DECAY, STRONGEST = 0.01, 1.0
"""Weight decay, and the norm to which gradients are clipped."""
UNSEEN = 0.1
"""Share of the pooled numbers dropped for each pair."""
SMOOTHED = 0.02
"""Distance of the training targets from 0 and 1."""
SCALE = 32.0
"""The divisor of the sum of a step's losses."""
SAID_EVERY = 100
CARD = "e5_pairs.md"


def train_and_write(data: Path, root: Path, cache: Path) -> str:
    """Train, on real posts under `data` too; write the file and its card under `root`, and return the card."""
    pairs = read_pairs(data)
    states = _cached(pairs, cache)
    taught = [row for row, pair in enumerate(pairs) if pair.part is Part.TRAIN]
    held = tuned_layers.frozen(E5File(find()))
    adapters, heads = _tune([pairs[row] for row in taught], [states[row] for row in taught], held)
    weights = heads["w"].numpy().copy()
    # In service the mean is not scaled by MEAN, so the weights have to contain that factor.
    weights[:, : weights.shape[1] // 2] *= tuned_layers.MEAN
    shipped = tuned_layers.for_the_graph(adapters) | {"summed": weights, "bias": heads["b"].numpy()}
    path = root / "models" / "data" / PAIRS
    halves = {name: array.astype(np.float16) for name, array in shipped.items()}
    np.savez_compressed(path, allow_pickle=False, **halves)
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
    """Return the states of pairs after layer SHARED, from `cache` if it holds exactly these pairs."""
    texts = "\0".join(pair.first + pair.second for pair in pairs)
    digest = hashlib.sha256(texts.encode("utf-8", "replace")).hexdigest()
    if cache.exists():
        with np.load(cache) as kept:
            if str(kept["digest"]) == digest:
                return np.split(kept["states"], kept["ends"][:-1])
    click.echo(f"Reading {len(pairs):,} pairs.", err=True)
    states = asyncio.run(_shared([(pair.first, pair.second) for pair in pairs]))
    ends = np.cumsum([len(of_pair) for of_pair in states])
    np.savez(cache, digest=np.array(digest), ends=ends, states=np.concatenate(states))
    return states


async def _shared(pairs: Sequence[tuple[str, str]]) -> list[Vectors]:
    embedder = default_embedder()
    try:
        if not isinstance(embedder, OnnxE5Embedder):
            raise BadSettings("The layers for pairs are those that ONNX Runtime computes: install onnxruntime.")
        return [states[:LONGEST].astype(np.float16) for states in await embedder.shared_states_of_pairs(pairs)]
    finally:
        await embedder.close()


def _tune(
    pairs: Sequence[Pair], states: Sequence[Vectors], held: tuned_layers.Tensors
) -> tuple[tuned_layers.Tensors, tuned_layers.Tensors]:
    """Return adapters, and the weights `w` and biases `b` of a linear head for each question."""
    chance = torch.Generator().manual_seed(SEED)
    adapters = tuned_layers.adapters(chance)
    size = (len(PAIR_QUESTIONS), tuned_layers.POOLED)
    weights = (torch.rand(*size, generator=chance) * 2 - 1) / tuned_layers.POOLED**0.5
    heads = {"w": weights, "b": torch.zeros(len(PAIR_QUESTIONS))}
    torch.manual_seed(SEED)
    drawn = np.random.default_rng(SEED)
    lengths = np.array([len(of_pair) for of_pair in states])
    steps = [portion for _ in range(PASSES) for portion in portions(lengths, drawn)]
    answers = torch.tensor([float(pair.answer) for pair in pairs]) * (1 - 2 * SMOOTHED) + SMOOTHED
    asked = torch.tensor([PAIR_QUESTIONS.index(pair.question) for pair in pairs])
    counts = torch.tensor([pair.weight for pair in pairs])
    learned = [*adapters.values(), *heads.values()]
    for tensor in learned:
        tensor.requires_grad_(True)
    groups = [{"params": list(adapters.values())}, {"params": list(heads.values())}]
    optimiser = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY)
    said = 0.0
    for step, rows in enumerate(steps, 1):
        share = min(1.0, step / WARM) * 0.5 * (1 + math.cos(math.pi * step / len(steps)))
        for group, rate in zip(optimiser.param_groups, (RATE, HEADS_RATE), strict=True):
            group["lr"] = rate * share
        pooled = tuned_layers.pooled(*tuned_layers.padded([states[row] for row in rows]), held, adapters)
        logits = _logits(functional.dropout(pooled, UNSEEN), heads).gather(1, asked[rows][:, None])[:, 0]
        losses = functional.binary_cross_entropy_with_logits(logits, answers[rows], reduction="none")
        loss = losses @ counts[rows] / SCALE
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, STRONGEST)
        optimiser.step()
        said += float(loss.detach()) * SCALE / float(counts[rows].sum())
        if step % SAID_EVERY == 0:
            click.echo(f"Step {step} of {len(steps)}: loss {said / SAID_EVERY:.3f} a pair.", err=True)
            said = 0.0
    for tensor in learned:
        tensor.requires_grad_(False)
    return adapters, heads


def _logits(pooled: Any, heads: tuned_layers.Tensors) -> Any:
    return functional.linear(pooled, heads["w"], heads["b"])


async def _scores(pairs: Sequence[tuple[str, str]]) -> Vectors:
    """Return the log odds of each question by the shipped file, shape (pairs, questions)."""
    embedder = default_embedder()
    try:
        return await embedder.read_pairs(pairs)
    finally:
        await embedder.close()
