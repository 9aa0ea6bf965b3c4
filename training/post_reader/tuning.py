"""Tune MPNet on all that is asked of English posts, with torch (the `train` extra)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from training import low_rank, mpnet_layers
from training.low_rank import Tensors
from training.mpnet_layers import POOLED
from training.post_layers import tuning
from training.post_layers.lessons import Lesson

READ, CLAIMS_READ = 2, 3
"""How often a text is read, and one whose claims are labelled: what a claim is takes longest to learn."""
SCHEDULE = replace(mpnet_layers.SCHEDULE, passes=1)
TOLD = READ, CLAIMS_READ, SCHEDULE, tuning.HEADS_SHARE, tuning.CLAIMS_SHARE, tuning.CLAIM_COUNTS
"""What decides the result besides the lessons."""


def tune(
    lessons: Sequence[Lesson], tokens: Sequence[Sequence[int]], weights: Tensors, claims: Sequence[str], seed: int
) -> tuple[Tensors, Tensors]:
    """Return adapters with the greatest inputs, and the heads of `training.post_layers.tuning.Tuned`.

    `tokens` are those of the lessons' texts. Reports the loss as it goes.
    """
    chance = torch.Generator().manual_seed(seed)
    adapters = mpnet_layers.adapters(weights, chance)
    tuned = tuning.blank(adapters, claims, chance, POOLED)
    places = [
        place
        for place, lesson in enumerate(lessons)
        for _ in range(READ if lesson.claims is None else CLAIMS_READ)
    ]  # fmt: skip

    def pooled_of(rows: Sequence[int]) -> Any:
        return mpnet_layers.pooled([tokens[places[row]] for row in rows], weights, adapters)

    def loss(pooled: Any, rows: Sequence[int]) -> Any:
        return tuning.loss_of(tuned, pooled, [lessons[places[row]] for row in rows])

    lengths = [len(tokens[place]) + 2 for place in places]
    low_rank.optimise(lengths, pooled_of, adapters, tuned.heads, loss, SCHEDULE, seed)
    return adapters | mpnet_layers.greatest_inputs(tokens, weights, adapters), tuned.heads
