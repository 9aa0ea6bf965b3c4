"""Write the graphs of multilingual-e5-small for ONNX Runtime. Needs onnx (the `dev` extra).

They contain no weights, which `models.e5_onnx` supplies by name. The first graph takes one text's embedded tokens,
shape (tokens, 384), and returns the tokens' states after the last layer and after layers EARLY and SHARED. The second
continues from the states after layer SHARED, with layers that are tuned for posts or for pairs (`models.e5_tuned`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.e5_file import E5File, find
from models.e5_onnx import EARLY, GRAPH, weights
from models.e5_tuned import GRAPH as POSTS_GRAPH
from models.e5_tuned import RANK, SHAPE, SHARED, TUNED
from training.transformer_graph import Sizes, TransformerGraph


def graph() -> bytes:
    """Return the serialised graph that reads any text."""
    file = E5File(find())
    grown = TransformerGraph(_sizes(file))
    states = grown.normalised("embedded", "emb.ln")
    outputs: list[str] = []
    for number in range(SHAPE.layers):
        states = grown.layer(states, f"l{number}")
        if number + 1 in (SHARED, EARLY, SHAPE.layers):
            outputs.insert(0, states)
    return grown.serialised("multilingual-e5-small", {"embedded": ["tokens", SHAPE.width]}, outputs, weights(file))


def posts_graph() -> bytes:
    """Return the serialised graph that reads a post, starting from the states after layer SHARED."""
    file = E5File(find())
    grown = TransformerGraph(_sizes(file), adapted=True)
    states = "shared"
    for number in range(SHARED, SHAPE.layers):
        states = grown.layer(states, f"l{number}")
    given = {name: array for name, array in weights(file).items() if name.split(".")[0] in TUNED}
    reads: dict[str, list[str | int]] = {"shared": ["tokens", SHAPE.width]}
    return grown.serialised("layers for posts", reads, [states], given | _adapters())


def _sizes(file: E5File) -> Sizes:
    return Sizes(SHAPE.width, SHAPE.heads, SHAPE.inner, file.epsilon)


def _adapters() -> dict[str, NDArray[np.generic]]:
    """Return adapters of the right shapes; their values are not used."""
    sizes = {"qkv": (1, 3), "ao": (1, 1), "fi": (1, 4), "fo": (4, 1)}
    shaped: dict[str, NDArray[np.generic]] = {}
    for layer in TUNED:
        for name, (inputs, outputs) in sizes.items():
            rank = 3 * RANK if name == "qkv" else RANK
            shaped[f"{layer}.{name}.down"] = np.empty((inputs * SHAPE.width, rank), np.float32)
            shaped[f"{layer}.{name}.up"] = np.empty((rank, outputs * SHAPE.width), np.float32)
    return shaped


def write(out: Path) -> str:
    """Write both graphs into folder `out` and return a summary."""
    written = {GRAPH: graph(), POSTS_GRAPH: posts_graph()}
    for name, content in written.items():
        (out / name).write_bytes(content)
    sizes = ", ".join(f"{name} ({len(content):,} bytes)" for name, content in written.items())
    return f"Wrote the graphs of multilingual-e5-small to {out}: {sizes}."
