"""MPNet: the graph computes what the paper's model does, from the published file's format."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Mapping
from math import erf
from pathlib import Path

import numpy as np
import pytest

from core.errors import WeightsError
from models.embed import Vectors
from models.mpnet import EPSILON, GRAPH, LINEAR, NORMS, PAIR, PARTS, WINDOW, WINDOWS, Mpnet, Shape, distances
from training import mpnet_graph

SMALL = Shape(width=64, layers=2, heads=4)
RANK = 4
WORDS = ("<s>", "<pad>", "</s>", "[UNK]", "they", "ruin", "every", "##thing", "here")
MATRICES = {"q": (1, 1), "k": (1, 1), "v": (1, 1), "ao": (1, 1), "fi": (1, 4), "fo": (4, 1)}


def tensors() -> dict[str, Vectors]:
    """Return random weights of a small model, by the names in the published file."""
    drawn = np.random.default_rng(7)

    def random(*shape: int) -> Vectors:
        return np.asarray(drawn.normal(0, 0.3, shape), np.float32)

    made = {
        "embeddings.word_embeddings.weight": random(len(WORDS), SMALL.width),
        "embeddings.position_embeddings.weight": random(PAIR + 2, SMALL.width),
        "encoder.relative_attention_bias.weight": random(32, SMALL.heads),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(SMALL.layers):
        norms += [f"encoder.layer.{layer}.{norm}" for norm in NORMS.values()]
        flat = [part for parts in PARTS.values() for part in parts]
        for part, (reads, gives) in zip(flat, MATRICES.values(), strict=True):
            made[f"encoder.layer.{layer}.{part}.weight"] = random(gives * SMALL.width, reads * SMALL.width)
            made[f"encoder.layer.{layer}.{part}.bias"] = random(gives * SMALL.width)
    for norm in norms:
        made |= {f"{norm}.weight": 1 + random(SMALL.width), f"{norm}.bias": random(SMALL.width)}
    return made


def adapters(size: float) -> dict[str, Vectors]:
    drawn = np.random.default_rng(8)
    made: dict[str, Vectors] = {}
    for layer in range(SMALL.layers):
        for name, (reads, gives) in MATRICES.items():
            made[f"l{layer}.{name}.down"] = np.asarray(drawn.normal(0, size, (RANK, reads * SMALL.width)), np.float32)
            made[f"l{layer}.{name}.up"] = np.asarray(drawn.normal(0, size, (gives * SMALL.width, RANK)), np.float32)
        for name, (reads, _) in LINEAR.items():
            made[f"l{layer}.{name}.most"] = np.full(reads * SMALL.width, 3.0, np.float32)
    return made


def write_file(path: Path, arrays: Mapping[str, Vectors]) -> Path:
    """Write a zip file as it was published: safetensors and the tokenizer, in a folder."""
    head: dict[str, object] = {"__metadata__": {"format": "pt"}}
    content = b""
    for name, array in arrays.items():
        offsets = [len(content), len(content) + array.nbytes]
        head[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": offsets}
        content += array.tobytes()
    written = json.dumps(head).encode()
    vocabulary = {"model": {"vocab": {word: number for number, word in enumerate(WORDS)}}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model/", b"")
        archive.writestr("model/model.safetensors", struct.pack("<Q", len(written)) + written + content)
        archive.writestr("model/tokenizer.json", json.dumps(vocabulary))
    return path


def expected(tokens: list[int], arrays: Mapping[str, Vectors], added: Mapping[str, Vectors]) -> Vectors:
    """Return the pooled states, computed plainly."""

    def norm(inputs: Vectors, name: str) -> Vectors:
        centred = inputs - inputs.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
        return np.asarray(scaled * arrays[f"{name}.weight"] + arrays[f"{name}.bias"], np.float32)

    def linear(inputs: Vectors, layer: int, part: str, name: str) -> Vectors:
        key = f"encoder.layer.{layer}.{part}"
        matrix = arrays[f"{key}.weight"] + added[f"l{layer}.{name}.up"] @ added[f"l{layer}.{name}.down"]
        return np.asarray(inputs @ matrix.T + arrays[f"{key}.bias"], np.float32)

    count = len(tokens)
    states = arrays["embeddings.word_embeddings.weight"][tokens]
    states = norm(states + arrays["embeddings.position_embeddings.weight"][2 : 2 + count], "embeddings.LayerNorm")
    near = arrays["encoder.relative_attention_bias.weight"][distances(count)].transpose(2, 0, 1)
    for layer in range(SMALL.layers):
        q, k, v = (
            linear(states, layer, part, name).reshape(count, SMALL.heads, -1).transpose(1, 0, 2)
            for name, part in zip("qkv", PARTS["qkv"], strict=True)
        )
        close = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(SMALL.width / SMALL.heads) + near)
        mixed = (close / close.sum(axis=2, keepdims=True) @ v).transpose(1, 0, 2).reshape(count, -1)
        prefix = f"encoder.layer.{layer}"
        states = norm(linear(mixed, layer, PARTS["ao"][0], "ao") + states, f"{prefix}.{NORMS['aln']}")
        inner = linear(states, layer, PARTS["fi"][0], "fi")
        inner = np.asarray(inner * 0.5 * (1 + np.vectorize(erf)(inner / np.sqrt(2))), np.float32)
        states = norm(linear(inner, layer, PARTS["fo"][0], "fo") + states, f"{prefix}.{NORMS['oln']}")
    return np.concatenate([states.mean(axis=0), states.max(axis=0)])


@pytest.fixture(scope="module")
def graph() -> bytes:
    return mpnet_graph.graph(SMALL)


@pytest.mark.parametrize("size", [0.0, 0.3])
def test_computes_the_model_with_its_adapters(tmp_path: Path, graph: bytes, size: float) -> None:
    arrays, added = tensors(), adapters(size)
    model = Mpnet(write_file(tmp_path / "model.zip", arrays), added, SMALL, graph)
    (read,), read_all = model.pooled("They ruin everything here")
    assert read_all
    plain = expected([0, 4, 5, 6, 7, 8, 2], arrays, added)
    # Weights and states in 8 bits differ a little from those in full precision.
    assert np.corrcoef(read, plain)[0, 1] > 0.998
    assert np.abs(read - plain).max() < 0.2


def test_reads_two_texts_beside_each_other(tmp_path: Path, graph: bytes) -> None:
    arrays, added = tensors(), adapters(0.3)
    model = Mpnet(write_file(tmp_path / "model.zip", arrays), added, SMALL, graph)
    read = model.pooled_pair("They ruin everything", "here")
    assert read is not None
    assert np.corrcoef(read, expected([0, 4, 5, 6, 7, 2, 2, 8, 2], arrays, added))[0, 1] > 0.998


def test_reads_long_texts_in_windows_and_no_more_than_some(tmp_path: Path, graph: bytes) -> None:
    model = Mpnet(write_file(tmp_path / "model.zip", tensors()), adapters(0), SMALL, graph)
    (one, _), (two, _) = model.pooled("they " * (WINDOW - 2)), model.pooled("they " * (WINDOW - 1))
    assert (len(one), len(two)) == (1, 2)
    assert np.allclose(one[0], two[0])
    most = WINDOWS * (WINDOW - 2)
    for count, read_all in ((most, True), (most + 1, False), (20_000, False)):
        windows, said = model.pooled("they " * count)
        assert (len(windows), said) == (WINDOWS, read_all)


@pytest.mark.parametrize("text", ["", "🙂", "\ud800", "\0"])
def test_any_text_can_be_read(tmp_path: Path, graph: bytes, text: str) -> None:
    model = Mpnet(write_file(tmp_path / "model.zip", tensors()), adapters(0), SMALL, graph)
    assert np.isfinite(model.pooled(text)[0]).all()


def test_distances_are_those_of_the_paper() -> None:
    from_the_first = distances(PAIR)[0]
    assert from_the_first[:9].tolist() == [0, 17, 18, 19, 20, 21, 22, 23, 24]
    assert (np.diff(from_the_first[1:]) >= 0).all() and from_the_first.max() <= 31
    assert (distances(PAIR)[50, :50] == from_the_first[1:51][::-1] - 16).all()


@pytest.mark.parametrize("damage", ["torn", "empty", "no tensor"])
def test_a_damaged_file_is_named_with_the_way_out(tmp_path: Path, graph: bytes, damage: str) -> None:
    arrays = tensors()
    if damage == "no tensor":
        del arrays["encoder.relative_attention_bias.weight"]
    path = write_file(tmp_path / "model.zip", arrays)
    if damage != "no tensor":
        path.write_bytes(path.read_bytes()[:5000] if damage == "torn" else b"")
    with pytest.raises(WeightsError, match=r"model\.zip does not hold .*models pull all-mpnet-base-v2"):
        Mpnet(path, adapters(0), SMALL, graph)


def test_the_shipped_graph_is_up_to_date(tmp_path: Path) -> None:
    mpnet_graph.write(tmp_path)
    shipped = Path(mpnet_graph.__file__).parents[1] / "models" / "data" / GRAPH
    assert (tmp_path / GRAPH).read_bytes() == shipped.read_bytes(), "run `rejoinder train mpnet-graph`"
