"""Open a graph of multilingual-e5-small in ONNX Runtime, with weights that are given beside it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import numpy as np
import onnxruntime
from numpy.typing import NDArray


def values_of(weights: Mapping[str, NDArray[np.generic]]) -> dict[str, onnxruntime.OrtValue]:
    """Return weights as ONNX Runtime takes them; graphs that are opened with the same ones share their memory."""
    return {name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in weights.items()}


def open_graph(name: str, values: Mapping[str, onnxruntime.OrtValue]) -> onnxruntime.InferenceSession:
    """Open the shipped graph called `name` with all of its weights, and no other."""
    options = onnxruntime.SessionOptions()
    # Texts run beside each other on our threads: threads within a run would spin and get in their way.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # The extended level fuses a sum into the normalisation after it, by a kernel that takes eight times as long.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # No slower, and the memory that one long text needs is given back.
    options.enable_cpu_mem_arena = False
    options.add_external_initializers(list(values), list(values.values()))
    graph = files("models").joinpath("data", name).read_bytes()
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
