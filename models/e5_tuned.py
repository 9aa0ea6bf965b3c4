"""Read posts, and pairs of texts, with versions of multilingual-e5-small's last layers, tuned by low-rank adapters.

The adapters (LoRA, Hu et al. 2021, section 4) and the weights that sum up the states of the tokens are shipped:
`data/e5_posts.npz`, written by `rejoinder train post-layers`, and `data/e5_pairs.npz`, written by `rejoinder train
pair-layers`. The adapters add to the embedder's weights, and one graph computes both versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import numpy as np
import onnxruntime

from models.arrays import open_arrays
from models.e5_file import Shape
from models.embed import Vectors
from models.onnx_graphs import open_graph, values_of

SHAPE = Shape(width=384, layers=12, heads=12, inner=1536, words=250_037, positions=512, token_types=2)
"""The model that the graphs compute."""
SHARED = 6
"""Number of first layers that tuned versions share with all other texts."""
TUNED = tuple(f"l{number}" for number in range(SHARED, SHAPE.layers))
"""The layers that are tuned, by their names in the graphs."""
RANK = 16
"""Rank of the adapters."""
LONGEST = 64
"""Most tokens of a post that the layers read, as in training; longer posts are left to heads that read all of it."""
SUMMED = 128
"""Length of a post's reading."""
GRAPH = "e5_tuned.onnx"
POSTS, PAIRS = "e5_posts.npz", "e5_pairs.npz"
"""The adapters' files."""


def load_adapters(name: str, path: Path | None = None) -> dict[str, Vectors]:
    """Return the shipped adapters `name`, or those in the file `path`, by their names in the graph.

    Raises WeightsError for a file that is missing or damaged.
    """
    file_path = path or files("models").joinpath("data", name)
    with open_arrays(file_path, f"The tuned layers {name}") as data:
        return {name: np.ascontiguousarray(data[name], np.float32) for name in {*data.files, "summed", "bias"}}


class TunedLayers:
    """Tuned layers, which continue from the states of layer SHARED. Safe to use on several threads."""

    def __init__(self, values: Mapping[str, onnxruntime.OrtValue], adapters: Mapping[str, Vectors]) -> None:
        """Open the graph with the embedder's weights and the result of `load_adapters`."""
        self._summed, self._bias = adapters["summed"], adapters["bias"]
        own = {name: value for name, value in values.items() if name.split(".")[0] in TUNED}
        self._session = open_graph(GRAPH, own | values_of({name: adapters[name] for name in adapters if "." in name}))

    def read(self, shared: Vectors) -> Vectors:
        """Return the reading of a text, from its tokens' states, shape (tokens, 384).

        A post's has SUMMED numbers for the heads, a pair's the log odds of `models.e5.PAIR_QUESTIONS`.
        """
        (states,) = self._session.run(None, {"shared": shared})
        together = np.concatenate([states.mean(axis=0), states.max(axis=0)])
        return np.asarray(self._summed @ together + self._bias, np.float32)
