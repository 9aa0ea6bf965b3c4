"""Open the graphs that Rejoinder ships in ONNX Runtime, with weights from outside their files."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NotImplemented,
)

from core.errors import WeightsError

_TORN = (OSError, InvalidArgument, InvalidProtobuf)
_FAULTS = (*_TORN, Fail, InvalidGraph, NotImplemented)
_SILENT = 4
"""Errors are raised, so ONNX Runtime need not print them too."""


def values_of(weights: Mapping[str, NDArray[np.generic]]) -> dict[str, onnxruntime.OrtValue]:
    """Return weights in ONNX Runtime's form; graphs that are opened with the same values share their memory."""
    return {name: onnxruntime.OrtValue.ortvalue_from_numpy(array) for name, array in weights.items()}


def open_graph(name: str, values: Mapping[str, onnxruntime.OrtValue]) -> onnxruntime.InferenceSession:
    """Open the shipped graph `name` with exactly the weights that it needs; raises WeightsError for a damaged file."""
    try:
        return open_serialised(_file(name).read_bytes(), values)
    except _FAULTS as fault:
        raise _damaged(name, fault) from fault


def require_whole(name: str) -> None:
    """Raise WeightsError if the shipped graph `name` is missing or torn; takes 10 ms and needs no weights."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _SILENT
    try:
        onnxruntime.InferenceSession(_file(name).read_bytes(), options, providers=["CPUExecutionProvider"])
    except Fail:
        return  # It could be read, and asks for its weights.
    except _TORN as fault:
        raise _damaged(name, fault) from fault


def _file(name: str) -> Traversable:
    return files("models").joinpath("data", name)


def _damaged(name: str, fault: Exception) -> WeightsError:
    return WeightsError(f"The graph {_file(name)} can't be read ({fault}): install Rejoinder again.")


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
