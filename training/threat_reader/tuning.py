"""Tune MPNet on lessons about threats, with torch (the `train` extra)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from pipeline.heads import NAMES
from pipeline.second_opinion import THREAT
from training import low_rank
from training.low_rank import Schedule, Tensors
from training.post_layers.lessons import Lesson
from training.threat_reader import network
from training.threat_reader.network import POOLED

OPINIONS = (*NAMES, THREAT)
"""What is learned: what else is known of a text helps to read it, though only threats are asked for in service."""
OTHERS_SHARE = 1 / 3
SCHEDULE = Schedule(rate=6e-4, heads_rate=1.2e-3, warm=60, said_every=20)


def tune(
    lessons: Sequence[Lesson], tokens: Sequence[Sequence[int]], weights: Tensors, seed: int
) -> tuple[Tensors, Tensors]:
    """Return adapters, and the weights `w` and biases `b` of a linear head for each of OPINIONS; reports the loss."""
    chance = torch.Generator().manual_seed(seed)
    adapters = network.adapters(weights, chance)
    heads: Tensors = {}
    heads["w"], heads["b"] = low_rank.new_head(len(OPINIONS), POOLED, chance)

    def pooled_of(rows: Sequence[int]) -> Any:
        return network.pooled([tokens[row] for row in rows], weights, adapters)

    def loss(pooled: Any, rows: Sequence[int]) -> Any:
        logits = functional.linear(pooled, heads["w"], heads["b"])
        return low_rank.yes_or_no(logits, *_answers([lessons[row] for row in rows]))

    lengths = [len(each) + 2 for each in tokens]
    low_rank.optimise(lengths, pooled_of, adapters, heads, loss, SCHEDULE, seed)
    return adapters, heads


def _answers(lessons: Sequence[Lesson]) -> tuple[np.ndarray, np.ndarray]:
    """Return the right answers and their weights, shape (lessons, OPINIONS)."""
    answers, counts = np.zeros((2, len(lessons), len(OPINIONS)), np.float32)
    for row, lesson in enumerate(lessons):
        for name, (answer, count) in lesson.opinions.items():
            column = OPINIONS.index(name)
            answers[row, column], counts[row, column] = answer, count * (1 if name == THREAT else OTHERS_SHARE)
    return answers, counts
