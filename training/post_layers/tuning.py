"""Tune the layers for posts together with heads for all questions at once (the `train` extra)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import torch
from torch.nn import functional

from kb.claims.judge import KINDS
from models.embed import Vectors
from pipeline.heads import NAMES
from pipeline.second_opinion import THREAT
from training.post_layers.lessons import Lesson
from training.tuned_layers import POOLED, Tensors, padded, pooled

OPINIONS = (*NAMES, THREAT)
PASSES = 2
TOKENS = 2048
"""Most tokens in a step, including padding."""
ALIKE = 4096
"""Texts that are sorted by length at a time, so that a step has texts of similar length."""
RATE, HEADS_RATE = 1e-3, 2e-3
WARM = 100
"""Steps over which the learning rate rises to the schedule, a falling cosine."""
DECAY, STRONGEST = 0.01, 1.0
"""Weight decay, and the norm to which gradients are clipped."""
UNSEEN = 0.1
"""Share of the pooled numbers dropped for each text."""
SMOOTHED = 0.02
"""Distance of the training targets from 0 and 1: labels are the opinions of a few people."""
SCALE = 32.0
"""The divisor of the sum of a step's losses."""
HEADS_SHARE, CLAIMS_SHARE = 1 / 3, 0.5
SAID_EVERY = 100


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


def blank(adapters: Tensors, claims: Sequence[str], chance: Any) -> Tuned:
    """Return untrained heads over adapters; `chance` is a torch generator."""
    sizes = {"opinion": len(OPINIONS), "kind": len(KINDS), "answerable": 1, "claim": len(claims)}
    heads: Tensors = {}
    for name, size in sizes.items():
        heads[f"{name}.w"] = (torch.rand(size, POOLED, generator=chance) * 2 - 1) / POOLED**0.5
        heads[f"{name}.b"] = torch.zeros(size)
    return Tuned(adapters, heads, tuple(claims))


def tune(lessons: Sequence[Lesson], states: Sequence[Vectors], held: Tensors, tuned: Tuned, seed: int) -> None:
    """Train `tuned` in place on lessons, given their texts' states after layer SHARED; reports the loss as it goes."""
    torch.manual_seed(seed)
    drawn = np.random.default_rng(seed)
    lengths = np.array([len(of_text) for of_text in states])
    steps = [portion for _ in range(PASSES) for portion in portions(lengths, drawn)]
    learned = [*tuned.adapters.values(), *tuned.heads.values()]
    for tensor in learned:
        tensor.requires_grad_(True)
    groups = [{"params": list(tuned.adapters.values())}, {"params": list(tuned.heads.values())}]
    optimiser = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY)
    said = 0.0
    for step, rows in enumerate(steps, 1):
        share = min(1.0, step / WARM) * 0.5 * (1 + math.cos(math.pi * step / len(steps)))
        for group, rate in zip(optimiser.param_groups, (RATE, HEADS_RATE), strict=True):
            group["lr"] = rate * share
        summed = pooled(*padded([states[row] for row in rows]), held, tuned.adapters)
        loss = _loss(tuned, functional.dropout(summed, UNSEEN), [lessons[row] for row in rows])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, STRONGEST)
        optimiser.step()
        said += float(loss.detach()) * SCALE / len(rows)
        if step % SAID_EVERY == 0:
            click.echo(f"Step {step} of {len(steps)}: loss {said / SAID_EVERY:.3f} a text.", err=True)
            said = 0.0
    for tensor in learned:
        tensor.requires_grad_(False)


def portions(lengths: Vectors, drawn: np.random.Generator) -> Iterator[list[int]]:
    """Yield the rows in portions of at most TOKENS tokens, texts of similar length together, in random order."""
    order = drawn.permutation(len(lengths))
    portions: list[list[int]] = []
    for start in range(0, len(order), ALIKE):
        portion: list[int] = []
        for row in sorted(order[start : start + ALIKE].tolist(), key=lambda row: int(lengths[row])):
            if portion and (len(portion) + 1) * lengths[row] > TOKENS:
                portions.append(portion)
                portion = []
            portion.append(row)
        portions.append(portion)
    yield from (portions[place] for place in drawn.permutation(len(portions)))


def _loss(tuned: Tuned, summed: Any, lessons: Sequence[Lesson]) -> Any:
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
        # A wording makes its claim by definition, so it counts less than a post that somebody labelled.
        claims[row, known] = CLAIMS_SHARE * (0.5 if lesson.origin == "wording" else 1.0) / max(len(known), 1)
    opinions = _yes_or_no(logits["opinion"], answers, counts)
    answered = _yes_or_no(logits["answerable"], answerable[:, :1], answerable[:, 1:])
    of_kinds = functional.cross_entropy(
        logits["kind"], torch.from_numpy(kinds), reduction="none", label_smoothing=0.05
    ) @ torch.from_numpy(kind_counts)
    named = -(torch.from_numpy(claims) * functional.log_softmax(logits["claim"], 1)).sum()
    return (opinions + answered + of_kinds + named) / SCALE


def _yes_or_no(logits: Any, answers: Vectors, counts: Vectors) -> Any:
    smoothed = torch.from_numpy(answers * (1 - 2 * SMOOTHED) + SMOOTHED)
    losses = functional.binary_cross_entropy_with_logits(logits, smoothed, reduction="none")
    return (losses * torch.from_numpy(counts)).sum()
