"""The shipped graph of the embedder is the one that `rejoinder train e5-graph` writes."""

from importlib.resources import files
from pathlib import Path

from models.e5_onnx import GRAPH
from training import e5_graph


def test_the_shipped_graph_is_up_to_date(tmp_path: Path) -> None:
    e5_graph.write(tmp_path)
    shipped = files("models").joinpath("data", GRAPH).read_bytes()
    assert (tmp_path / GRAPH).read_bytes() == shipped, "run `rejoinder train e5-graph`"
