"""Tune MPNet on lessons about threats, with torch (the `train` extra)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from pipeline.heads import NAMES
from pipeline.second_opinion import THREAT
from training import low_rank, mpnet_layers
from training.low_rank import Tensors
from training.mpnet_layers import POOLED, SCHEDULE
from training.post_layers.lessons import Lesson

OPINIONS = (*NAMES, THREAT)
"""What is learned: what else is known of a text helps to read it, though only threats are asked for in service."""
OTHERS_SHARE = 1 / 3


def tune(
    lessons: Sequence[Lesson], tokens: Sequence[Sequence[int]], weights: Tensors, seed: int
) -> tuple[Tensors, Tensors]:
    """Return adapters with the greatest inputs, and weights `w` and biases `b` of linear heads for OPINIONS.

    Reports the loss as it goes.
    """
    chance = torch.Generator().manual_seed(seed)
    adapters = mpnet_layers.adapters(weights, chance)
    heads: Tensors = {}
    heads["w"], heads["b"] = low_rank.new_head(len(OPINIONS), POOLED, chance)

    def pooled_of(rows: Sequence[int]) -> Any:
        return mpnet_layers.pooled([tokens[row] for row in rows], weights, adapters)

    def loss(pooled: Any, rows: Sequence[int]) -> Any:
        logits = functional.linear(pooled, heads["w"], heads["b"])
        return low_rank.yes_or_no(logits, *_answers([lessons[row] for row in rows]))

    lengths = [len(each) + 2 for each in tokens]
    low_rank.optimise(lengths, pooled_of, adapters, heads, loss, SCHEDULE, seed)
    return adapters | mpnet_layers.greatest_inputs(tokens, weights, adapters), heads


def _answers(lessons: Sequence[Lesson]) -> tuple[np.ndarray, np.ndarray]:
    """Return the right answers and their weights, shape (lessons, OPINIONS)."""
    answers, counts = np.zeros((2, len(lessons), len(OPINIONS)), np.float32)
    for row, lesson in enumerate(lessons):
        for name, (answer, count) in lesson.opinions.items():
            column = OPINIONS.index(name)
            answers[row, column], counts[row, column] = answer, count * (1 if name == THREAT else OTHERS_SHARE)
    return answers, counts
