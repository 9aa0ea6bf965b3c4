"""Tune the layers for posts together with heads for all questions at once (the `train` extra)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from kb.claims.judge import KINDS
from models.embed import Vectors
from pipeline.heads import NAMES
from pipeline.second_opinion import THREAT
from training.low_rank import Tensors, new_head, yes_or_no
from training.post_layers.lessons import CLAIM_TWINS, OWN_POSTS, Lesson
from training.tuned_layers import POOLED, optimise

OPINIONS = (*NAMES, THREAT)
HEADS_SHARE, CLAIMS_SHARE = 1 / 3, 0.5
CLAIM_COUNTS = {"wording": 0.5, CLAIM_TWINS: 1.5, OWN_POSTS: 1.5}
"""Weight of a text for the claim it makes, by origin: a wording makes it by definition, ours by what readers say."""


@dataclass(frozen=True)
class Tuned:
    """The adapters, and heads over pooled states: weights and biases of `opinion`, `kind`, `answerable` and `claim`."""

    adapters: Tensors
    heads: Tensors
    claims: tuple[str, ...]

    def logits(self, summed: Any) -> dict[str, Any]:
        """Return each head's logits for pooled states of shape (texts, POOLED)."""
        return {
            name: functional.linear(summed, self.heads[f"{name}.w"], self.heads[f"{name}.b"])
            for name in ("opinion", "kind", "answerable", "claim")
        }


def blank(adapters: Tensors, claims: Sequence[str], chance: Any, pooled: int = POOLED) -> Tuned:
    """Return untrained heads over adapters, for `pooled` numbers a text; `chance` is a torch generator."""
    sizes = {"opinion": len(OPINIONS), "kind": len(KINDS), "answerable": 1, "claim": len(claims)}
    heads: Tensors = {}
    for name, size in sizes.items():
        heads[f"{name}.w"], heads[f"{name}.b"] = new_head(size, pooled, chance)
    return Tuned(adapters, heads, tuple(claims))


def tune(lessons: Sequence[Lesson], states: Sequence[Vectors], held: Tensors, tuned: Tuned, seed: int) -> None:
    """Train `tuned` in place on lessons, given their texts' states after layer SHARED; reports the loss as it goes."""

    def loss(pooled: Any, rows: Sequence[int]) -> Any:
        return loss_of(tuned, pooled, [lessons[row] for row in rows])

    optimise(states, held, tuned.adapters, tuned.heads, loss, seed)


def loss_of(tuned: Tuned, summed: Any, lessons: Sequence[Lesson]) -> Any:
    """Return the summed loss of texts' pooled states, shape (lessons, pooled)."""
    logits = tuned.logits(summed)
    answers, counts = np.zeros((2, len(lessons), len(OPINIONS)), np.float32)
    kinds, kind_counts = np.zeros(len(lessons), np.int64), np.zeros(len(lessons), np.float32)
    answerable = np.array([lesson.answerable for lesson in lessons], np.float32)
    claims = np.zeros((len(lessons), len(tuned.claims)), np.float32)
    places = {name: place for place, name in enumerate(tuned.claims)}
    for row, lesson in enumerate(lessons):
        for name, (answer, count) in lesson.opinions.items():
            column = OPINIONS.index(name)
            answers[row, column], counts[row, column] = answer, count * (1 if name == THREAT else HEADS_SHARE)
        if lesson.kind is not None:
            kinds[row], kind_counts[row] = lesson.kind, lesson.counts
        known = [places[name] for name in lesson.claims or () if name in places]
        claims[row, known] = CLAIM_COUNTS.get(lesson.origin, 1.0) * CLAIMS_SHARE / max(len(known), 1)
    opinions = yes_or_no(logits["opinion"], answers, counts)
    answered = yes_or_no(logits["answerable"], answerable[:, :1], answerable[:, 1:])
    of_kinds = functional.cross_entropy(
        logits["kind"], torch.from_numpy(kinds), reduction="none", label_smoothing=0.05
    ) @ torch.from_numpy(kind_counts)
    named = -(torch.from_numpy(claims) * functional.log_softmax(logits["claim"], 1)).sum()
    return opinions + answered + of_kinds + named
