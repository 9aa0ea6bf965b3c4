"""Write the graph of MPNet for ONNX Runtime. Needs onnx (the `dev` extra).

It contains no weights, which `models.mpnet` supplies by name. It takes one text's embedded tokens, shape (tokens,
width), and how much nearer tokens are to each other by their distance alone, shape (heads, tokens, tokens); it returns
the tokens' states after the last layer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.mpnet import EPSILON, GRAPH, LINEAR, SHAPE, Shape
from training.transformer_graph import Sizes, TransformerGraph


def graph(shape: Shape = SHAPE) -> bytes:
    """Return the serialised graph."""
    grown = TransformerGraph(Sizes(shape.width, shape.heads, 4 * shape.width, EPSILON), smoothed=True)
    states = grown.normalised("embedded", "emb.ln")
    for number in range(shape.layers):
        states = grown.layer(states, f"l{number}", "nearness")
    reads: dict[str, list[str | int]] = {
        "embedded": ["tokens", shape.width],
        "nearness": [shape.heads, "tokens", "tokens"],
    }
    return grown.serialised("MPNet", reads, [states], _weights(shape))


def _weights(shape: Shape) -> dict[str, NDArray[Any]]:
    """Return weights of the right shapes; their values are not used."""
    named: dict[str, NDArray[Any]] = {}
    norms = ["emb.ln", *(f"l{number}.{norm}" for number in range(shape.layers) for norm in ("aln", "oln"))]
    for norm in norms:
        named |= {f"{norm}.{part}": np.empty(shape.width, np.float32) for part in "wb"}
    for number in range(shape.layers):
        for name, (reads, gives) in LINEAR.items():
            key, inputs, outputs = f"l{number}.{name}", reads * shape.width, gives * shape.width
            named[f"{key}.m"] = np.empty(inputs, np.float32)
            named[f"{key}.w"] = np.empty((inputs, outputs), np.int8)
            named |= {f"{key}.{part}": np.empty(outputs, np.float32) for part in "sb"}
    return named


def write(out: Path) -> str:
    """Write the graph into folder `out` and return a summary."""
    content = graph()
    (out / GRAPH).write_bytes(content)
    return f"Wrote the graph of MPNet to {out / GRAPH} ({len(content):,} bytes)."
