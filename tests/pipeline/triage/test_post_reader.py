"""The reader of posts: which it reads again, what its opinion counts, and what triage makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.domain import Route, TargetGroup
from core.errors import WeightsError
from core.settings import TriageSettings
from models.e5_tuned import SUMMED
from models.embed import Embedder, Vectors
from models.embedders import default_embedder
from models.mpnet import SHAPE, Mpnet
from pipeline import vector
from pipeline.heads import HATE, NAMES
from pipeline.post_reader import REREAD_HATE_FROM, REREAD_THREAT_FROM, PostReader, opinion_on_readings
from pipeline.second_opinion import THREAT, SecondOpinion
from pipeline.triage import Triager
from tests.factories import make_post
from tests.models.test_mpnet import SMALL, adapters, tensors, write_file
from training import mpnet_graph

WIDTH = 2 * SMALL.width


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Mpnet:
    path = write_file(tmp_path_factory.mktemp("model") / "model.zip", tensors())
    return Mpnet(path, adapters(0), SMALL, mpnet_graph.graph(SMALL))


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    yield default_embedder()


def reader(
    model: Mpnet, threat: float = 0.0, hate: float = 0.0, weights: Vectors | None = None, of_first: float = 0.5
) -> PostReader:
    """Return a reader whose log odds are the same for every text, or for a threat those of its pooled states.

    Of groups, it finds one attacked as surely as it finds a text hateful, and surely no other.
    """
    groups = {group.value: hate if group is TargetGroup.JEWS else -30.0 for group in TargetGroup}
    log_odds = {THREAT: threat, HATE: hate} | groups
    opinion = SecondOpinion(
        "small",
        tuple(log_odds),
        np.array([[name == THREAT] for name in log_odds], np.float32),
        np.array(list(log_odds.values()), np.float32),
        np.array([[of_first, 1 - of_first, 0]] * len(log_odds), np.float32),
    )
    row = np.zeros(WIDTH, np.float32) if weights is None else weights
    return PostReader(model, row[np.newaxis], np.zeros(1, np.float32), opinion)


def test_both_opinions_count(model: Mpnet) -> None:
    sure = reader(model, 3.0)
    assert sure.threat(0.5, sure.read_now("They ruin everything")) == pytest.approx(1 / (1 + np.exp(-1.5)))
    deaf = reader(model, 3.0, of_first=1.0)
    assert deaf.threat(0.2, deaf.read_now("They ruin")) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("text", "hate", "threat", "language", "again"),
    [
        ("They ruin everything", REREAD_HATE_FROM, 0.0, "en", True),
        ("They ruin everything", 0.0, REREAD_THREAT_FROM, "en", True),
        ("They ruin everything", REREAD_HATE_FROM / 2, REREAD_THREAT_FROM / 2, "en", False),
        ("They ruin everything", 0.5, 0.5, "es", False),
        ("They ruin everything", 0.5, 0.5, "und", False),
        ("", 0.5, 0.5, "en", False),
    ],
)
async def test_what_is_surely_harmless_or_in_another_language_is_not_read_again(
    model: Mpnet, text: str, hate: float, threat: float, language: str, again: bool
) -> None:
    assert (await reader(model).read(text, hate, threat, language) is not None) is again


def test_the_window_most_like_a_threat_counts(model: Mpnet) -> None:
    drawn = np.random.default_rng(1).normal(0, 0.1, WIDTH).astype(np.float32)
    read = reader(model, weights=drawn, of_first=0.0)
    calm, other = "they " * 94, "ruin " * 94
    one, another, both = (read.threat(0.5, read.read_now(text)) for text in (calm, other, calm + other))
    assert one != pytest.approx(another, abs=1e-3)
    assert both == pytest.approx(max(one, another), abs=1e-3)


def test_only_a_post_that_is_read_at_once_has_a_reading_as_a_whole(model: Mpnet) -> None:
    assert reader(model).read_now("they " * 94).whole is not None
    assert reader(model).read_now("they " * 95).whole is None


def test_what_it_has_not_read_it_does_not_make_harmless(model: Mpnet) -> None:
    long = f"{'. ' * 2000} They will see what they get."
    calm, alarmed = reader(model, -9.0), reader(model, 9.0)
    assert calm.threat(0.6, calm.read_now(long)) == 0.6
    assert alarmed.threat(0.6, alarmed.read_now(long)) > 0.9


POST = "One day the zorblaxians will see what they get for it."


@pytest.mark.parametrize(("log_odds", "escalated"), [(30.0, True), (-30.0, False)])
async def test_triage_goes_by_both(model: Mpnet, embedder: Embedder, log_odds: float, escalated: bool) -> None:
    alone = await Triager(embedder, TriageSettings()).triage(make_post(text=POST))
    assert alone.threat >= REREAD_THREAT_FROM, "choose a post that is read again"
    triage = await Triager(embedder, TriageSettings(), reader(model, log_odds)).triage(make_post(text=POST))
    assert (triage.route is Route.ESCALATE) is escalated
    assert alone.reread is None
    assert triage.reread == f"small:{vector.pack(np.zeros(1, np.float32))}"


@pytest.mark.parametrize(("log_odds", "hateful"), [(30.0, True), (-30.0, False)])
async def test_both_say_how_hateful_a_post_is_and_whom_it_attacks(
    model: Mpnet, embedder: Embedder, log_odds: float, hateful: bool
) -> None:
    sure = reader(model, -30.0, log_odds)
    triage = await Triager(embedder, TriageSettings(), sure).triage(make_post(text=POST))
    assert (triage.hate > 0.9) is hateful
    assert ([score.group for score in triage.groups] == [TargetGroup.JEWS]) is hateful


async def test_a_longer_post_is_read_again_for_threats_alone(model: Mpnet, embedder: Embedder) -> None:
    post = make_post(text=f"{POST} {'That is what they all say about it over here. ' * 12}")
    alone = await Triager(embedder, TriageSettings()).triage(post)
    triage = await Triager(embedder, TriageSettings(), reader(model, 30.0, -30.0)).triage(post)
    assert triage.reread is None
    assert (triage.hate, triage.groups) == (alone.hate, alone.groups)
    assert triage.threat > 0.9 > alone.threat


def test_damaged_adapters_are_named(tmp_path: Path) -> None:
    torn = tmp_path / "reader.npz"
    torn.write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(WeightsError, match=r"reader of posts.*reader\.npz"):
        PostReader.load(tmp_path / "model.zip", torn)


def test_the_shipped_adapters_fit_the_published_model() -> None:
    with np.load(Path(__file__).parents[3] / "pipeline" / "data" / "post_reader.npz") as shipped:
        assert shipped["summed"].shape == (SUMMED, 2 * SHAPE.width)
        assert {name.split(".")[0] for name in shipped.files if "." in name} == {f"l{n}" for n in range(SHAPE.layers)}
        assert all(np.isfinite(shipped[name]).all() for name in shipped.files if shipped[name].dtype.kind == "f")


def test_the_opinion_on_readings_counts_beside_the_first() -> None:
    opinion = opinion_on_readings()
    assert opinion.length == SUMMED
    assert set(opinion.names) == {*NAMES, THREAT}
    assert opinion.layers != SecondOpinion.load().layers
    assert (opinion.shares[:, :2] > 0).all()


async def test_a_threat_behind_all_that_is_read_goes_to_people(model: Mpnet, embedder: Embedder) -> None:
    chatter = "We had a long and rather nice talk about the weather and the garden with the neighbours. " * 2
    text = f"{chatter}{'. ' * 600}I will find you zorblaxians and kill every one of you."
    triage = await Triager(embedder, TriageSettings(), reader(model, -30.0)).triage(make_post(text=text))
    assert triage.route is Route.ESCALATE
