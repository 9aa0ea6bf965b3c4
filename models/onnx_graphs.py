"""Open the graphs that Rejoinder ships in ONNX Runtime, with weights from outside their files."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import numpy as np
import onnxruntime
from numpy.typing import NDArray


def values_of(weights: Mapping[str, NDArray[np.generic]]) -> dict[str, onnxruntime.OrtValue]:
    """Return weights in ONNX Runtime's form; graphs that are opened with the same values share their memory."""
    return {name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in weights.items()}


def open_graph(name: str, values: Mapping[str, onnxruntime.OrtValue]) -> onnxruntime.InferenceSession:
    """Open the shipped graph `name` with exactly the weights that it needs."""
    return open_serialised(files("models").joinpath("data", name).read_bytes(), values)


def open_serialised(graph: bytes, values: Mapping[str, onnxruntime.OrtValue]) -> onnxruntime.InferenceSession:
    """Open a serialised graph with exactly the weights that it needs."""
    options = onnxruntime.SessionOptions()
    # Texts run in parallel on our threads: threads within a run would spin and get in their way.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # The extended level fuses a sum with the normalisation after it, in a kernel that takes eight times as long.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # This is no slower, and the memory needed for one long text is given back.
    options.enable_cpu_mem_arena = False
    options.add_external_initializers(list(values), list(values.values()))
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
