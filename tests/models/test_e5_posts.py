"""The layers for posts: without adapters they are the embedder's own, and adapters add what their matrices say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.errors import WeightsError
from models.e5_file import E5File, find
from models.e5_onnx import OnnxE5Embedder, weights
from models.e5_posts import LONGEST, RANK, SHAPE, SUMMED, TUNED, PostLayers
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


def layers_with(arrays: dict[str, Vectors], folder: Path) -> PostLayers:
    path = folder / "adapters.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]
    return PostLayers(values_of(weights(E5File(find()))), path)


async def test_without_adapters_the_layers_are_the_embedders_own(tmp_path: Path) -> None:
    vector, shared = await shared_states(POST)
    mean = layers_with(blank_adapters(), tmp_path).read(shared)
    assert np.allclose(mean / np.linalg.norm(mean), vector[:SUMMED] / np.linalg.norm(vector[:SUMMED]), atol=1e-3)


async def test_an_adapter_changes_what_is_read(tmp_path: Path) -> None:
    _, shared = await shared_states(POST)
    arrays = blank_adapters()
    before = layers_with(arrays, tmp_path).read(shared)
    # A shift of all numbers alike would be taken out again by the normalisation after it.
    arrays[f"{TUNED[-1]}.fo.up"][:, ::2] = 0.01
    assert np.abs(layers_with(arrays, tmp_path).read(shared) - before).max() > 0.01


async def test_a_long_post_is_read_by_its_beginning(tmp_path: Path) -> None:
    _, shared = await shared_states(f"{POST} " * 60)
    layers = layers_with(blank_adapters(), tmp_path)
    assert len(shared) > LONGEST
    assert np.array_equal(layers.read(shared), layers.read(shared[:LONGEST]))


def test_a_torn_file_is_named(tmp_path: Path) -> None:
    torn = tmp_path / "adapters.npz"
    torn.write_bytes(b"PK\x03\x04 torn")
    with pytest.raises(WeightsError, match=r"adapters\.npz"):
        PostLayers({}, torn)
