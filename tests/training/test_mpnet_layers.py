"""MPNet in training: it computes what the graph in service does, and learns only once from the same lessons."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.mpnet import LINEAR, Mpnet
from tests.models.test_mpnet import SMALL, adapters, expected, tensors, write_file
from training import mpnet_graph

torch = pytest.importorskip("torch", reason="the `train` extra is not installed")
from training import low_rank, mpnet_layers  # noqa: E402
from training.low_rank import Tensors  # noqa: E402

TOKENS = [4, 5, 6, 7, 8]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpnet_layers, "SHAPE", SMALL)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_file(tmp_path / "model.zip", tensors())


def tuned(size: float) -> Tensors:
    return {name: torch.from_numpy(array) for name, array in adapters(size).items() if not name.endswith(".most")}


def test_computes_the_model_with_its_adapters_whatever_stands_beside_a_text(file: Path) -> None:
    weights, tokenizer = mpnet_layers.opened(file)
    assert tokenizer.tokens("They ruin everything here", 9) == TOKENS
    one, other = mpnet_layers.pooled([TOKENS, TOKENS[:2]], weights, tuned(0.1)).numpy()
    one[: SMALL.width] /= low_rank.MEAN
    plain = expected([0, *TOKENS, 2], tensors(), adapters(0.1))
    assert np.corrcoef(one, plain)[0, 1] > 0.999
    (alone,) = mpnet_layers.pooled([TOKENS[:2]], weights, tuned(0.1)).numpy()
    assert np.allclose(other, alone, atol=0.1), "padding is not read"


def test_the_greatest_inputs_are_those_of_the_graph_and_serve_it(file: Path) -> None:
    weights, _ = mpnet_layers.opened(file)
    most = mpnet_layers.greatest_inputs([TOKENS, TOKENS[:3]], weights, tuned(0.1))
    sizes = {
        f"l{layer}.{name}.most": reads * SMALL.width
        for layer in range(SMALL.layers)
        for name, (reads, _) in LINEAR.items()
    }
    assert {name: len(each) for name, each in most.items()} == sizes
    assert all((each > 0).all() for each in most.values())
    arrays = adapters(0.1) | {name: each.numpy() for name, each in most.items()}
    (read,), _ = Mpnet(file, arrays, SMALL, mpnet_graph.graph(SMALL)).pooled("They ruin everything here")
    assert np.corrcoef(read, expected([0, *TOKENS, 2], tensors(), arrays))[0, 1] > 0.998


def test_what_was_learned_is_kept_until_lessons_or_weights_change(file: Path, tmp_path: Path) -> None:
    learned: list[str] = []

    def tune() -> tuple[Tensors, Tensors]:
        learned.append("again")
        return {"l0.q.up": torch.ones(2)}, {"w": torch.zeros(2)}

    cache = tmp_path / "kept.pt"
    for told in ("lessons", "lessons", "other lessons"):
        adapters_, heads = mpnet_layers.tuned_or_kept(told, file, cache, tune)
        assert adapters_["l0.q.up"].tolist() == [1, 1] and heads["w"].tolist() == [0, 0]
    assert len(learned) == 2
    file.write_bytes(file.read_bytes() + b"\0")
    mpnet_layers.tuned_or_kept("other lessons", file, cache, tune)
    assert len(learned) == 3
