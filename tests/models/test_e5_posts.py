"""The layers for posts: without adapters they are the embedder's own, and adapters add what their matrices say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.errors import WeightsError
from models.e5_file import E5File, find
from models.e5_onnx import OnnxE5Embedder, weights
from models.e5_posts import LONGEST, RANK, SHAPE, SUMMED, TUNED, PostLayers, load_adapters
from models.e5_session import values_of
from models.embed import Vectors

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


def layers_with(arrays: dict[str, Vectors]) -> PostLayers:
    return PostLayers(values_of(weights(E5File(find()))), arrays)


def read(arrays: dict[str, Vectors], shared: Vectors) -> Vectors:
    summed = layers_with(arrays).read(shared)
    assert summed is not None
    return summed


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


async def test_a_long_post_is_left_to_those_who_read_all_of_it() -> None:
    _, shared = await shared_states(f"{POST} " * 60)
    layers = layers_with(blank_adapters())
    assert len(shared) > LONGEST
    assert layers.read(shared) is None
    assert layers.read(shared[:LONGEST]) is not None


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn"])
def test_a_torn_file_is_named(tmp_path: Path, content: bytes) -> None:
    torn = tmp_path / "adapters.npz"
    torn.write_bytes(content)
    with pytest.raises(WeightsError, match=r"adapters\.npz"):
        load_adapters(torn)


def test_a_file_without_its_sums_is_named(tmp_path: Path) -> None:
    poor = tmp_path / "adapters.npz"
    np.savez(poor, other=np.zeros(3))
    with pytest.raises(WeightsError, match=r"adapters\.npz"):
        load_adapters(poor)
