"""Tuning adapters with heads: every text is learned from in each pass, and what was frozen stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the `train` extra is not installed")
from torch.nn import functional  # noqa: E402

from training import low_rank  # noqa: E402
from training.low_rank import Schedule, Tensors  # noqa: E402

WIDTH = 8
SCHEDULE = Schedule(rate=0.05, heads_rate=0.1, warm=2, said_every=1000, passes=60)


def test_each_pass_has_every_text_once_and_no_step_too_many_tokens() -> None:
    lengths = np.random.default_rng(1).integers(3, 96, 5000).tolist()
    steps = list(low_rank.portions(lengths, np.random.default_rng(2)))
    assert sorted(row for rows in steps for row in rows) == list(range(5000))
    assert max(len(rows) * max(lengths[row] for row in rows) for rows in steps) <= low_rank.TOKENS
    assert steps == list(low_rank.portions(lengths, np.random.default_rng(2))), "the same in every run"


def test_a_text_longer_than_a_step_gets_one_of_its_own() -> None:
    steps = list(low_rank.portions([5, low_rank.TOKENS + 1, 6], np.random.default_rng(0)))
    assert sorted(map(sorted, steps)) == [[0, 2], [1]]


def test_new_adapters_change_nothing() -> None:
    adapters = low_rank.new_adapters({"l0.q": (6, 4)}, 2, torch.Generator().manual_seed(0))
    assert adapters["l0.q.down"].shape == (2, 4) and adapters["l0.q.up"].shape == (6, 2)
    assert not (adapters["l0.q.up"] @ adapters["l0.q.down"]).any()


def test_padding_is_not_pooled() -> None:
    states = torch.tensor([[[1.0, -2.0], [3.0, -4.0], [99.0, 99.0]]])
    pooled = low_rank.pool(states, torch.tensor([[True, True, False]]))
    assert pooled.tolist() == [[low_rank.MEAN * 2, low_rank.MEAN * -3, 3.0, -2.0]]


def test_adapters_and_heads_learn_together() -> None:
    """Tell texts apart by a difference that the frozen matrix hides, so that the adapters have to learn it."""
    chance = torch.Generator().manual_seed(0)
    texts = torch.randn(64, WIDTH, generator=chance)
    frozen = torch.eye(WIDTH)
    frozen[0, 0] = 0.0
    answers = (texts[:, :1] > 0).float().numpy()
    adapters = low_rank.new_adapters({"only": (WIDTH, WIDTH)}, 2, chance)
    heads: Tensors = {}
    heads["w"], heads["b"] = low_rank.new_head(1, WIDTH, chance)

    def pooled_of(rows: Sequence[int]) -> Any:
        return functional.linear(texts[rows], frozen + adapters["only.up"] @ adapters["only.down"])

    def loss(pooled: Any, rows: Sequence[int]) -> Any:
        logits = functional.linear(pooled, heads["w"], heads["b"])
        return low_rank.yes_or_no(logits, answers[rows], np.ones_like(answers[rows]))

    every = list(range(64))
    before = float(loss(pooled_of(every), every))
    low_rank.optimise([4] * 64, pooled_of, adapters, heads, loss, SCHEDULE, seed=1)
    after = float(loss(pooled_of(every), every))
    assert after < 0.5 * before
    assert adapters["only.up"].any() and not adapters["only.up"].requires_grad
