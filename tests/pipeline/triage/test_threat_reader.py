"""The reader of threats: which posts it reads again, what its opinion counts, and what triage makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.domain import Route
from core.errors import WeightsError
from core.settings import TriageSettings
from models.embed import Embedder
from models.embedders import default_embedder
from models.mpnet import SHAPE, Mpnet
from pipeline.threat_reader import REREAD_FROM, ThreatReader
from pipeline.triage import Triager
from tests.factories import make_post
from tests.models.test_mpnet import SMALL, adapters, tensors, write_file
from training import mpnet_graph


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Mpnet:
    path = write_file(tmp_path_factory.mktemp("model") / "model.zip", tensors())
    return Mpnet(path, adapters(0), SMALL, mpnet_graph.graph(SMALL))


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    yield default_embedder()


def reader(model: Mpnet, log_odds: float, of_first: float = 0.5, of_second: float = 0.5) -> ThreatReader:
    """Return a reader that gives every text the same log odds."""
    nothing = np.zeros(2 * SMALL.width, np.float32)
    return ThreatReader(model, nothing, log_odds, np.array([of_first, of_second, 0.0], np.float32))


async def test_both_opinions_count(model: Mpnet) -> None:
    assert await reader(model, 3.0).reread("They ruin everything", 0.5, "en") == pytest.approx(1 / (1 + np.exp(-1.5)))
    assert await reader(model, 3.0, 1.0, 0.0).reread("They ruin", 0.2, "en") == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("text", "first", "language"),
    [
        ("They ruin everything", REREAD_FROM / 2, "en"),
        ("They ruin everything", 0.5, "es"),
        ("They ruin everything", 0.5, "und"),
        ("", 0.5, "en"),
    ],
)
async def test_what_is_surely_none_or_in_another_language_keeps_its_first_opinion(
    model: Mpnet, text: str, first: float, language: str
) -> None:
    assert await reader(model, 50.0).reread(text, first, language) == first


async def test_the_window_most_like_a_threat_counts(model: Mpnet) -> None:
    drawn = np.random.default_rng(1).normal(0, 1, 2 * SMALL.width).astype(np.float32)
    read = ThreatReader(model, drawn, 0.0, np.array([0, 1, 0], np.float32))
    calm, other = "they " * 94, "ruin " * 94
    (of_one, _), (of_other, _), (of_both, _) = map(read.log_odds, (calm, other, calm + other))
    assert of_both == pytest.approx(max(of_one, of_other), abs=1e-4)


async def test_what_it_has_not_read_it_does_not_make_harmless(model: Mpnet) -> None:
    long = f"{'. ' * 2000} They will see what they get."
    assert await reader(model, -9.0).reread(long, 0.6, "en") == 0.6
    assert await reader(model, 9.0).reread(long, 0.6, "en") > 0.9


POST = "One day the zorblaxians will see what they get for it."


@pytest.mark.parametrize(("log_odds", "escalated"), [(30.0, True), (-30.0, False)])
async def test_triage_goes_by_both(model: Mpnet, embedder: Embedder, log_odds: float, escalated: bool) -> None:
    alone = await Triager(embedder, TriageSettings()).triage(make_post(text=POST))
    assert alone.threat >= REREAD_FROM, "choose a post that is read again"
    triage = await Triager(embedder, TriageSettings(), reader(model, log_odds)).triage(make_post(text=POST))
    assert (triage.route is Route.ESCALATE) is escalated
    assert triage.model_copy(update={"threat": 0, "route": Route.DRAFT, "reason": ""}) == alone.model_copy(
        update={"threat": 0, "route": Route.DRAFT, "reason": ""}
    )


def test_damaged_adapters_are_named(tmp_path: Path) -> None:
    torn = tmp_path / "reader.npz"
    torn.write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(WeightsError, match=r"reader of threats.*reader\.npz"):
        ThreatReader.load(tmp_path / "model.zip", torn)


def test_the_shipped_adapters_fit_the_published_model() -> None:
    with np.load(Path(__file__).parents[3] / "pipeline" / "data" / "threat_reader.npz") as shipped:
        assert shipped["weights"].shape == (2 * SHAPE.width,)
        assert (shipped["shares"][:2] > 0).all()
        assert {name.split(".")[0] for name in shipped.files if "." in name} == {f"l{n}" for n in range(SHAPE.layers)}
        assert all(np.isfinite(shipped[name]).all() for name in shipped.files)


async def test_a_threat_behind_all_that_is_read_goes_to_people(model: Mpnet, embedder: Embedder) -> None:
    chatter = "We had a long and rather nice talk about the weather and the garden with the neighbours. " * 2
    text = f"{chatter}{'. ' * 600}I will find you zorblaxians and kill every one of you."
    triage = await Triager(embedder, TriageSettings(), reader(model, -30.0)).triage(make_post(text=text))
    assert triage.route is Route.ESCALATE
