"""The network over tokens learns what neighbours say together, the same network from the same data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from training.heads.sample import Part, Sample

tokens = pytest.importorskip("training.heads.tokens")
States = list[NDArray[np.float16]]


def made_up(count: int = 400) -> tuple[list[Sample], States]:
    """Return texts of six tokens, two of which stand out side by side: hateful in one order, harmless in the other."""
    chance = np.random.default_rng(0)
    samples, states = [], []
    for number in range(count):
        of_text = chance.normal(size=(6, 8))
        hateful, place = number % 2 == 0, number // 2 % 5
        of_text[place, int(hateful)] = of_text[place + 1, int(not hateful)] = 9
        part = Part.CALIBRATE if number % 5 == 0 else Part.TRAIN
        origin = "real posts" if part is Part.CALIBRATE else "HateXplain"
        samples.append(Sample(f"text {number}", origin, hateful=hateful, part=part))
        states.append(of_text.astype(np.float16))
    return samples, states


def test_the_order_of_two_tokens_is_learned() -> None:
    samples, states = made_up()
    network = tokens.fit_tokens(samples, states, np.full(len(samples), 0.5, np.float32))
    chances = np.array([network.hate(0.5, of_text.astype(np.float32)) for of_text in states])
    hateful = np.array([sample.hateful for sample in samples])
    assert chances[hateful].mean() > chances[~hateful].mean() + 0.5


def test_the_same_data_give_the_same_network() -> None:
    samples, states = made_up(100)
    others = np.full(len(samples), 0.5, np.float32)
    first, second = (tokens.fit_tokens(samples, states, others) for _ in range(2))
    assert np.array_equal(first.taps, second.taps)
    assert np.array_equal(first.shares, second.shares)


def test_an_origin_that_does_not_count_is_not_read_unless_it_judges() -> None:
    teaches = Sample("a", "HateXplain", hateful=True)
    other = Sample("b", "Davidson", hateful=True)
    assert tokens.usable([other, teaches, replace(other, part=Part.REPORT)]) == [1, 2]


def test_cached_states_are_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = [np.ones((2, 4), np.float16), np.zeros((3, 4), np.float16)]

    async def once(texts: list[str]) -> States:
        return read

    monkeypatch.setattr(tokens, "_read", once)
    tokens.states_cached(["a", "b"], tmp_path / "tokens.npz")
    monkeypatch.delattr(tokens, "_read")
    again = tokens.states_cached(["a", "b"], tmp_path / "tokens.npz")
    assert [of_text.tolist() for of_text in again] == [of_text.tolist() for of_text in read]
