"""Two opinions on a post: what the second counts, and what stands where it has nothing to say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.domain import Route
from core.errors import WeightsError
from core.settings import TriageSettings
from models.e5 import E5Embedder
from models.embedders import default_embedder
from pipeline.heads import NAMES, Heads
from pipeline.second_opinion import THREAT, SecondOpinion
from pipeline.triage import Triager
from tests.factories import make_post


def opinion(of_first: float, of_second: float) -> SecondOpinion:
    weights, shares = np.array([[2.0, 0.0]], np.float32), np.array([[of_first, of_second, 0.0]], np.float32)
    return SecondOpinion("layers", (THREAT,), weights, np.zeros(1, np.float32), shares)


def test_both_opinions_count() -> None:
    reading = np.array([1.0, 5.0], np.float32)
    assert opinion(1, 0).beside({THREAT: 0.3}, reading)[THREAT] == pytest.approx(0.3)
    assert opinion(0, 1).beside({THREAT: 0.3}, reading)[THREAT] == pytest.approx(1 / (1 + np.exp(-2)))
    assert 0.3 < opinion(0.5, 0.5).beside({THREAT: 0.3}, reading)[THREAT] < 0.88


def test_a_question_that_it_knows_nothing_of_keeps_the_first_opinion() -> None:
    assert opinion(0, 1).beside({"taste": 0.3}, np.ones(2, np.float32)) == {"taste": 0.3}


def test_sure_opinions_stay_probabilities() -> None:
    reading = np.array([1e6, 0.0], np.float32)
    for first in (0.0, 1.0):
        assert 0 <= opinion(1, 1).beside({THREAT: first}, reading)[THREAT] <= 1


def test_the_shipped_opinion_is_on_what_triage_asks() -> None:
    shipped = SecondOpinion.load()
    assert set(shipped.names) == {*NAMES, THREAT}
    assert (shipped.shares[:, :2] > 0).all()


def test_a_torn_file_is_named(tmp_path: Path) -> None:
    torn = tmp_path / "opinion.npz"
    torn.write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(WeightsError, match=r"opinion\.npz"):
        SecondOpinion.load(torn)


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("The wheelchair crowd on our street costs us everything and gives nothing.", "disabled"),
        ("Las mujeres no saben conducir y deberían quedarse en casa.", "women"),
        ("Quei migranti ci rubano il lavoro e vivono alle nostre spalle.", "migrants"),
    ],
)
async def test_both_name_the_group_that_a_post_attacks(text: str, group: str) -> None:
    embedder = default_embedder()
    assert isinstance(embedder, E5Embedder)
    reading = await embedder.read(text)
    await embedder.close()
    assert reading.summed is not None
    scores = Heads.load().score(reading.vector, text, reading.tokens).beside(SecondOpinion.load(), reading.summed)
    assert max(scores.groups, key=lambda each: scores.groups[each]).value == group


async def test_a_threat_at_the_end_of_a_long_post_goes_to_people() -> None:
    embedder = default_embedder()
    chatter = "We had a long and rather nice talk about the weather and the garden with the neighbours today. " * 5
    triage = await Triager(embedder, TriageSettings()).triage(
        make_post(text=f"{chatter} I will find you zorblaxians and kill every one of you.")
    )
    await embedder.close()
    assert triage.summed is None
    assert triage.route is Route.ESCALATE
