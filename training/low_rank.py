"""Tune low-rank adapters of a frozen transformer together with heads, with torch (the `train` extra)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import torch
from torch.nn import functional

from models.embed import Vectors

Tensors = dict[str, Any]
PooledOf = Callable[[Sequence[int]], Any]
"""Returns the pooled states, shape (rows, pooled), of the texts with these numbers."""
LossOf = Callable[[Any, Sequence[int]], Any]
"""Returns the summed loss of pooled states, shape (rows, pooled), of the texts with these numbers."""

MEAN = 3.0
"""The factor by which the mean is scaled, so that it is about as large as the maximum."""
TOKENS = 2048
"""Most tokens in a step, including padding."""
ALIKE = 4096
"""Texts that are sorted by length at a time, so that a step has texts of similar length."""
DECAY, STRONGEST = 0.01, 1.0
"""Weight decay, and the norm to which gradients are clipped."""
UNSEEN = 0.1
"""Share of the pooled numbers dropped for each text."""
SMOOTHED = 0.02
"""Distance of the training targets from 0 and 1: labels are the opinions of a few people."""
SCALE = 32.0
"""The divisor of the sum of a step's losses."""


@dataclass(frozen=True)
class Schedule:
    """How fast and how long to tune; the learning rates are those after `warm` steps, then a cosine falls to 0."""

    rate: float
    heads_rate: float
    warm: int
    said_every: int
    """Steps between two reports of the loss."""
    passes: int = 2


def new_adapters(sizes: Mapping[str, tuple[int, int]], rank: int, chance: Any) -> Tensors:
    """Return new adapters for matrices of these sizes (outputs, inputs), which change nothing yet (LoRA, section 4.1).

    `chance` is a torch generator.
    """
    made: Tensors = {}
    for name, (gives, reads) in sizes.items():
        made[f"{name}.down"] = torch.randn(rank, reads, generator=chance) / reads**0.5
        made[f"{name}.up"] = torch.zeros(gives, rank)
    return made


def new_head(answers: int, inputs: int, chance: Any) -> tuple[Any, Any]:
    """Return the weights, shape (answers, inputs), and biases of an untrained head."""
    return (torch.rand(answers, inputs, generator=chance) * 2 - 1) / inputs**0.5, torch.zeros(answers)


def pool(states: Any, within: Any) -> Any:
    """Return the mean, times MEAN, and the maximum of the states, (texts, tokens, width), that are `within` a text."""
    mean = (states * within[..., None]).sum(1) / within.sum(1)[:, None]
    highest = states.masked_fill(~within[..., None], -1e4).amax(1)
    return torch.cat([MEAN * mean, highest], 1)


def without_scaled_mean(weights: Vectors) -> None:
    """Multiply weights over pooled states by MEAN where they read the mean, which service does not scale."""
    weights[:, : weights.shape[1] // 2] *= MEAN


def optimise(
    lengths: Sequence[int],
    pooled_of: PooledOf,
    adapters: Tensors,
    heads: Tensors,
    loss_of: LossOf,
    schedule: Schedule,
    seed: int,
) -> None:
    """Train adapters and heads in place on texts of these lengths, in tokens; reports the loss as it goes."""
    torch.manual_seed(seed)
    drawn = np.random.default_rng(seed)
    steps = [portion for _ in range(schedule.passes) for portion in portions(lengths, drawn)]
    learned = [*adapters.values(), *heads.values()]
    for tensor in learned:
        tensor.requires_grad_(True)
    groups = [{"params": list(adapters.values())}, {"params": list(heads.values())}]
    optimiser = torch.optim.AdamW(groups, lr=schedule.rate, betas=(0.9, 0.98), weight_decay=DECAY)
    said = 0.0
    for step, rows in enumerate(steps, 1):
        share = min(1.0, step / schedule.warm) * 0.5 * (1 + math.cos(math.pi * step / len(steps)))
        for group, rate in zip(optimiser.param_groups, (schedule.rate, schedule.heads_rate), strict=True):
            group["lr"] = rate * share
        loss = loss_of(functional.dropout(pooled_of(rows), UNSEEN), rows) / SCALE
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, STRONGEST)
        optimiser.step()
        said += float(loss.detach()) * SCALE / len(rows)
        if step % schedule.said_every == 0:
            click.echo(f"Step {step} of {len(steps)}: loss {said / schedule.said_every:.3f} a text.", err=True)
            said = 0.0
    for tensor in learned:
        tensor.requires_grad_(False)


def portions(lengths: Sequence[int], drawn: np.random.Generator) -> Iterator[list[int]]:
    """Yield the rows in portions of at most TOKENS tokens, texts of similar length together, in random order."""
    order = drawn.permutation(len(lengths))
    portions: list[list[int]] = []
    for start in range(0, len(order), ALIKE):
        portion: list[int] = []
        for row in sorted(order[start : start + ALIKE].tolist(), key=lambda row: lengths[row]):
            if portion and (len(portion) + 1) * lengths[row] > TOKENS:
                portions.append(portion)
                portion = []
            portion.append(row)
        portions.append(portion)
    yield from (portions[place] for place in drawn.permutation(len(portions)))


def yes_or_no(logits: Any, answers: Vectors, counts: Vectors) -> Any:
    """Return the sum of the weighted losses of yes-no questions; all have the same shape."""
    smoothed = torch.from_numpy(answers * (1 - 2 * SMOOTHED) + SMOOTHED)
    losses = functional.binary_cross_entropy_with_logits(logits, smoothed, reduction="none")
    return (losses * torch.from_numpy(counts)).sum()
