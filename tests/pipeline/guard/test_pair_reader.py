"""The reader of pairs: what the larger model makes of a sentence beside its post or evidence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.errors import WeightsError
from models.e5 import PAIR_QUESTIONS
from models.mpnet import PAIR, SHAPE, Mpnet
from pipeline.guard.pair_reader import FILE, LatePairReader, PairReader
from tests.models.test_mpnet import SMALL, adapters, tensors, write_file
from training import mpnet_graph


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Mpnet:
    path = write_file(tmp_path_factory.mktemp("model") / "model.zip", tensors())
    return Mpnet(path, adapters(0.1), SMALL, mpnet_graph.graph(SMALL))


@pytest.fixture
def reader(model: Mpnet) -> PairReader:
    weights = np.random.default_rng(3).normal(0, 1, (len(PAIR_QUESTIONS), 2 * SMALL.width)).astype(np.float32)
    return PairReader(model, weights, np.array([0.5, -0.5], np.float32))


async def test_each_question_is_answered_for_each_pair(reader: PairReader) -> None:
    pairs = [("they ruin everything", "here"), ("here", "they ruin everything"), ("they", "they")]
    together = await reader.read_pairs(pairs)
    assert together.shape == (3, len(PAIR_QUESTIONS)) and np.isfinite(together).all()
    assert not np.allclose(together[0], together[1]), "the texts are not exchangeable"
    alone = [await reader.read_pairs([pair]) for pair in pairs]
    assert np.allclose(together, np.concatenate(alone)), "no pair depends on those beside it"
    await reader.close()


async def test_pairs_that_are_too_long_are_left_unread(reader: PairReader) -> None:
    room = PAIR - 4
    fits, too_long = ("they " * (room - 1), "here"), ("they " * room, "here")
    odds = await reader.read_pairs([fits, too_long, ("", "here"), ("they " * 100_000, "here " * 100_000)])
    assert np.isfinite(odds[[0, 2]]).all() and np.isnan(odds[[1, 3]]).all()
    assert (await reader.read_pairs([])).shape == (0, len(PAIR_QUESTIONS))
    await reader.close()


async def test_a_late_reader_is_loaded_once_and_one_that_was_never_asked_can_be_closed(reader: PairReader) -> None:
    loads: list[PairReader] = []

    def load() -> PairReader:
        loads.append(reader)
        return reader

    await LatePairReader(load).close()
    late = LatePairReader(load)
    first, second = [await late.read_pairs([("they", "here")]) for _ in range(2)]
    assert np.array_equal(first, second) and loads == [reader]
    await late.close()


async def test_a_damaged_model_reads_nothing_and_is_named_once(caplog: pytest.LogCaptureFixture) -> None:
    def load() -> PairReader:
        raise WeightsError("model.zip does not hold the weights: fetch it again.")

    late = LatePairReader(load)
    for _ in range(2):
        assert np.isnan(await late.read_pairs([("they", "here"), ("here", "they")])).all()
    assert caplog.text.count("fetch it again") == 1
    await late.close()


def test_damaged_adapters_are_named(tmp_path: Path) -> None:
    torn = tmp_path / "reader.npz"
    torn.write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(WeightsError, match=r"reader of pairs.*reader\.npz"):
        PairReader.load(tmp_path / "model.zip", torn)


def test_the_shipped_adapters_fit_the_published_model() -> None:
    with np.load(Path(__file__).parents[3] / "pipeline" / "data" / FILE) as shipped:
        assert shipped["weights"].shape == (len(PAIR_QUESTIONS), 2 * SHAPE.width)
        assert {name.split(".")[0] for name in shipped.files if "." in name} == {f"l{n}" for n in range(SHAPE.layers)}
        assert all(np.isfinite(shipped[name]).all() for name in shipped.files)
