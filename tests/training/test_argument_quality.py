"""The head of argument quality: fitted on columns whose weights are known, and the shipped one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.errors import BadInput
from evaluation.metrics.argument_quality import QualityHead
from models.embedders import default_embedder
from training.argument_quality import train


def test_the_fit_finds_what_makes_the_quality() -> None:
    chance = np.random.default_rng(1)
    vectors = chance.normal(size=(4_000, 3)).astype(np.float32)
    quality = (0.5 + 0.1 * vectors[:, 0]).astype(np.float32)
    head = train.fit(vectors, quality, "a test")
    assert np.corrcoef(head.quality(vectors), quality)[0, 1] > 0.99
    assert abs(head.weights[0]) > 20 * abs(head.weights[1])
    assert float(head.quality(vectors).mean()) == pytest.approx(0.5, abs=0.02)


def test_the_card_has_the_figures_of_the_test_split() -> None:
    arguments = train.Arguments(("one", "two words", "three more words"), np.array([0.1, 0.2, 0.3], np.float32))
    head = QualityHead(np.array([1.0], np.float32), 0.0, "a test")
    text = train.card(arguments, arguments, head, np.array([[0.1], [0.2], [0.3]], np.float32), "abc")
    assert "| Pearson | 1.000 | 1.000 |" in text and "3 arguments" in text


def test_a_missing_data_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="IBM_ArgQ30k"):
        train.read_split(tmp_path, "train")


async def test_the_shipped_head_tells_an_argument_from_noise() -> None:
    head, embedder = QualityHead.load(), default_embedder()
    assert head.embedder == embedder.name
    argument = "Public libraries should stay free because they give every child a quiet place to learn and read."
    vectors = await embedder.queries([argument, "idk lol whatever"])
    await embedder.close()
    good, noise = head.quality(vectors)
    assert good > noise + 0.1
