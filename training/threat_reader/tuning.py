"""Tune MPNet on lessons about threats, with torch (the `train` extra)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import click
import numpy as np
import torch
from torch.nn import functional

from pipeline.heads import NAMES
from pipeline.second_opinion import THREAT
from training.post_layers.lessons import Lesson
from training.threat_reader import network
from training.threat_reader.network import POOLED, Tensors
from training.tuned_layers import yes_or_no

OPINIONS = (*NAMES, THREAT)
"""What is learned: what else is known of a text helps to read it, though only threats are asked for in service."""
OTHERS_SHARE = 1 / 3
PASSES = 2
TOKENS = 2048
"""Most tokens in a step, including padding."""
ALIKE = 4096
"""Texts that are sorted by length at a time, so that a step has texts of similar length."""
RATE, HEADS_RATE = 6e-4, 1.2e-3
WARM = 60
"""Steps over which the learning rate rises to the schedule, a falling cosine."""
DECAY, STRONGEST = 0.01, 1.0
"""Weight decay, and the norm to which gradients are clipped."""
UNSEEN = 0.1
"""Share of the pooled numbers dropped for each text."""
SCALE = 32.0
"""The divisor of the sum of a step's losses."""
SAID_EVERY = 20


def tune(
    lessons: Sequence[Lesson], tokens: Sequence[Sequence[int]], weights: Tensors, seed: int
) -> tuple[Tensors, Tensors]:
    """Return adapters, and the weights `w` and biases `b` of a linear head for each of OPINIONS; reports the loss."""
    torch.manual_seed(seed)
    chance = torch.Generator().manual_seed(seed)
    tuned = network.adapters(weights, chance)
    heads = {
        "w": (torch.rand(len(OPINIONS), POOLED, generator=chance) * 2 - 1) / POOLED**0.5,
        "b": torch.zeros(len(OPINIONS)),
    }
    learned = [*tuned.values(), *heads.values()]
    for tensor in learned:
        tensor.requires_grad_(True)
    groups = [{"params": list(tuned.values())}, {"params": list(heads.values())}]
    optimiser = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY)
    drawn = np.random.default_rng(seed)
    lengths = [len(each) + 2 for each in tokens]
    steps = [portion for _ in range(PASSES) for portion in _portions(lengths, drawn)]
    for step, rows in enumerate(steps, 1):
        share = min(1.0, step / WARM) * 0.5 * (1 + math.cos(math.pi * step / len(steps)))
        for group, rate in zip(optimiser.param_groups, (RATE, HEADS_RATE), strict=True):
            group["lr"] = rate * share
        states = network.pooled([tokens[row] for row in rows], weights, tuned)
        logits = functional.linear(functional.dropout(states, UNSEEN), heads["w"], heads["b"])
        loss = yes_or_no(logits, *_answers([lessons[row] for row in rows])) / SCALE
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, STRONGEST)
        optimiser.step()
        if step % SAID_EVERY == 0:
            said = float(loss.detach()) * SCALE / len(rows)
            click.echo(f"Step {step} of {len(steps)}: loss {said:.3f} a text.", err=True)
    for tensor in learned:
        tensor.requires_grad_(False)
    return tuned, heads


def _answers(lessons: Sequence[Lesson]) -> tuple[np.ndarray, np.ndarray]:
    """Return the right answers and their weights, shape (lessons, OPINIONS)."""
    answers, counts = np.zeros((2, len(lessons), len(OPINIONS)), np.float32)
    for row, lesson in enumerate(lessons):
        for name, (answer, count) in lesson.opinions.items():
            column = OPINIONS.index(name)
            answers[row, column], counts[row, column] = answer, count * (1 if name == THREAT else OTHERS_SHARE)
    return answers, counts


def _portions(lengths: Sequence[int], drawn: np.random.Generator) -> Iterator[list[int]]:
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
