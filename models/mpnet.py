"""Read English texts with all-mpnet-base-v2, a model nine times as large as the embedder.

MPNet is a transformer whose attention also counts how far apart tokens are (Song et al. 2020). The weights are
fetched (`rejoinder models pull all-mpnet-base-v2`) and reduced to 8 bits as they are loaded; adapters (LoRA, Hu et al.
2021) are added to them before. The graph is shipped (`data/mpnet.onnx`, written by `rejoinder train mpnet-graph`).

Each product has one scale for all tokens of a text, which a few large numbers would spoil. So each column of the inputs
is divided by what it usually reaches at most, and the weights are multiplied by it (SmoothQuant, Xiao et al. 2023).
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.domain import clean
from core.errors import WeightsError
from models.embed import Vectors
from models.onnx_graphs import open_graph, open_serialised, values_of
from models.wordpiece import WordPiece

NAME = "all-mpnet-base-v2"
"""The model's name in the catalog."""
GRAPH = "mpnet.onnx"


class Shape(NamedTuple):
    """The sizes of the model."""

    width: int
    layers: int
    heads: int


SHAPE = Shape(width=768, layers=12, heads=12)
EPSILON = 1e-5
SMOOTHING = 0.7
"""How much of the differences between columns moves into the weights (alpha in the paper): from none, 0, to all, 1."""
LEAST = 1e-4
"""Least size of an input or weight that counts, so that no factor is endless."""
LINEAR = {"qkv": (1, 3), "ao": (1, 1), "fi": (1, 4), "fo": (4, 1)}
"""The matrices of a layer in the graph: the sizes of input and output, in widths of a token's state."""
PARTS = {
    "qkv": ("attention.attn.q", "attention.attn.k", "attention.attn.v"),
    "ao": ("attention.attn.o",),
    "fi": ("intermediate.dense",),
    "fo": ("output.dense",),
}
"""The matrices by their names in the file; those of one entry are joined."""
NORMS = {"aln": "attention.LayerNorm", "oln": "output.LayerNorm"}
WINDOW = 96
"""Tokens that are read at once, with a start and an end."""
WINDOWS = 4
"""Most windows of a text that are read."""
PAIR = 256
"""Most tokens of a pair of texts, with a start, an end and two ends between them."""
START, END, UNKNOWN = 0, 2, "[UNK]"
FIRST_POSITION = 2
NEAREST, FARTHEST = 8, 128
"""Tokens nearer than the first have a number for each distance; from the second on, all share one."""
FAULTS = (OSError, EOFError, KeyError, ValueError, struct.error, zipfile.BadZipFile, zlib.error)

Tensors = Mapping[str, NDArray[np.float32]]


class Mpnet:
    """The model with one set of adapters. Safe to use on several threads."""

    def __init__(
        self, file: Path, adapters: Mapping[str, Vectors], shape: Shape = SHAPE, graph: bytes | None = None
    ) -> None:
        """Load the published zip file with `adapters`; takes five seconds. Raises WeightsError for a damaged file.

        `adapters` are `l0.q.down`, shape (rank, inputs), and `l0.q.up`, (outputs, rank), and so on for the matrices q,
        k, v, ao, fi and fo of each layer; and `l0.qkv.most`, shape (inputs,), the greatest size of each input of a
        matrix of the graph (LINEAR) on texts like those that are read. `graph` replaces the shipped one, for models of
        another shape.
        """
        try:
            tensors, numbers = read_file(file)
            values = values_of(_weights(tensors, adapters, shape))
            self._words = tensors["embeddings.word_embeddings.weight"].astype(np.float16)
            positions = tensors["embeddings.position_embeddings.weight"]
            self._positions = positions[FIRST_POSITION : FIRST_POSITION + PAIR].copy()
            by_distance = tensors["encoder.relative_attention_bias.weight"]
            self._nearness = np.ascontiguousarray(by_distance[distances(PAIR)].transpose(2, 0, 1))
            self._tokenizer = WordPiece(numbers, UNKNOWN)
        except FAULTS as fault:
            raise WeightsError(
                f"{file} does not hold the weights of {NAME} ({fault}): delete it, and fetch it again with: rejoinder "
                f"models pull {NAME}"
            ) from fault
        self._session = open_graph(GRAPH, values) if graph is None else open_serialised(graph, values)

    def pooled(self, text: str) -> tuple[Vectors, bool]:
        """Return what each window of a text says, shape (windows, 2 * width), and whether all of the text was read.

        That is the mean and the maximum of the tokens' states. Of a long text, the first WINDOWS windows are read.
        """
        content = WINDOW - 2
        tokens = self._tokenizer.tokens(clean(text), content * WINDOWS + 1)
        starts = range(0, min(max(len(tokens), 1), content * WINDOWS), content)
        windows = [self._window([START, *tokens[start : start + content], END]) for start in starts]
        return np.stack(windows), len(tokens) <= content * WINDOWS

    def pooled_pair(self, first: str, second: str) -> Vectors | None:
        """Return what two texts say beside each other, shape (2 * width,), as `pooled` does; None if too long."""
        one, other = (self._tokenizer.tokens(clean(text), PAIR) for text in (first, second))
        tokens = pair_tokens(one, other)
        return self._window([START, *tokens, END]) if len(tokens) + 2 <= PAIR else None

    def _window(self, tokens: list[int]) -> Vectors:
        count = len(tokens)
        inputs = {
            "embedded": self._words[tokens].astype(np.float32) + self._positions[:count],
            "nearness": np.ascontiguousarray(self._nearness[:, :count, :count]),
        }
        (states,) = self._session.run(None, inputs)
        return np.concatenate([np.mean(states, axis=0), np.max(states, axis=0)])


def pair_tokens(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Return the tokens of a pair between their start and end, divided as MPNet was trained to read pairs."""
    return [*first, END, END, *second]


def read_file(file: Path) -> tuple[Tensors, dict[str, int]]:
    """Return the tensors and the vocabulary that a published zip file holds."""
    with zipfile.ZipFile(file) as archive:
        names = {Path(name).name: name for name in archive.namelist() if not name.endswith("/")}
        content = archive.read(names["model.safetensors"])
        listed = json.loads(archive.read(names["tokenizer.json"]))["model"]["vocab"]
    return _tensors(content), listed


def _tensors(content: bytes) -> Tensors:
    """Return the tensors in single precision of a safetensors file (its format: the README of the project).

    They are views of `content`, which is 440 MB: whatever is kept has to be a copy.
    """
    (length,) = struct.unpack_from("<Q", content)
    start = 8 + length
    entries: dict[str, Any] = json.loads(content[8:start])
    return {
        name: np.frombuffer(content, "<f4", prod(entry["shape"]), start + entry["data_offsets"][0]).reshape(
            entry["shape"]
        )
        for name, entry in entries.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }


def _weights(tensors: Tensors, adapters: Mapping[str, Vectors], shape: Shape) -> dict[str, NDArray[Any]]:
    """Return the weights by their names in the graph, with the adapters added."""
    named: dict[str, NDArray[Any]] = _normalisation("emb.ln", tensors, "embeddings.LayerNorm")
    for number in range(shape.layers):
        layer, prefix = f"l{number}", f"encoder.layer.{number}"
        for name, parts in PARTS.items():
            short = list("qkv") if len(parts) == 3 else [name]
            matrices = [
                tensors[f"{prefix}.{part}.weight"] + adapters[f"{layer}.{key}.up"] @ adapters[f"{layer}.{key}.down"]
                for part, key in zip(parts, short, strict=True)
            ]
            biases = [tensors[f"{prefix}.{part}.bias"] for part in parts]
            if name == "qkv":
                divisor = np.sqrt(np.float32(shape.width // shape.heads))
                matrices[0], biases[0] = matrices[0] / divisor, biases[0] / divisor
            full = f"{layer}.{name}"
            named |= _linear(full, np.concatenate(matrices), np.concatenate(biases), adapters[f"{full}.most"])
        for norm, part in NORMS.items():
            named |= _normalisation(f"{layer}.{norm}", tensors, f"{prefix}.{part}")
    return named


def _linear(name: str, matrix: Vectors, bias: Vectors, most: Vectors) -> dict[str, NDArray[Any]]:
    """Return a matrix in 8 bits, in the form of DynamicQuantizeMatMul, and the factors of its inputs.

    `most` is the greatest size of each input. A weight is its byte times the scale of its output.
    """
    usual = np.maximum(most, LEAST) ** SMOOTHING / np.maximum(np.abs(matrix).max(axis=0), LEAST) ** (1 - SMOOTHING)
    smoothed = matrix * usual
    scales = np.maximum(np.abs(smoothed).max(axis=1) / 127, np.finfo(np.float32).tiny)
    steps = np.rint(smoothed / scales[:, np.newaxis]).astype(np.int8)
    return {
        f"{name}.m": np.asarray(1 / usual, np.float32),
        f"{name}.w": np.ascontiguousarray(steps.T),
        f"{name}.s": scales.astype(np.float32),
        f"{name}.b": bias,
    }


def _normalisation(name: str, tensors: Tensors, key: str) -> dict[str, NDArray[Any]]:
    return {f"{name}.w": tensors[f"{key}.weight"].copy(), f"{name}.b": tensors[f"{key}.bias"].copy()}


def distances(tokens: int) -> NDArray[np.int64]:
    """Return the number of the distance between each two tokens, shape (tokens, tokens).

    Half of the 32 numbers is for tokens before, half for tokens after; near distances have one each, farther ones
    share them by their logarithm (T5, Raffel et al. 2020, section 2.1).
    """
    places = np.arange(tokens)
    apart = places[np.newaxis] - places[:, np.newaxis]
    far = np.maximum(np.abs(apart), 1)
    shared = NEAREST + (np.log(far / NEAREST) / np.log(FARTHEST / NEAREST) * NEAREST).astype(np.int64)
    numbers = np.where(np.abs(apart) < NEAREST, np.abs(apart), np.minimum(shared, 2 * NEAREST - 1))
    return np.asarray(numbers + 2 * NEAREST * (apart > 0), np.int64)
