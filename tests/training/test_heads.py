from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from core.domain import TargetGroup
from pipeline.heads import COUNTER, HATE, NAMES, Heads
from pipeline.normalise import normalise
from training.heads.data import EVERY, NOBODY, Sample, read_samples, read_written

training_heads = pytest.importorskip("training.heads.train")
SHARED = Path(__file__).parents[2] / "../shared/data"


def made_up(count: int = 600) -> tuple[list[Sample], np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    """Return samples and vectors in which each head's answer is one coordinate's sign."""
    vectors = np.random.default_rng(0).normal(size=(count, 16)).astype(np.float32)
    samples = [
        Sample(f"text {number}", "HateXplain", frozenset(g for g, x in zip(TargetGroup, row, strict=False) if x > 0.5),
               EVERY, bool(row[8] > 0), bool(row[9] > 1))
        for number, row in enumerate(vectors)
    ]  # fmt: skip
    return samples, vectors


def test_training_learns_every_head_and_calibrates_it() -> None:
    samples, vectors = made_up()
    heads = training_heads.train(samples, vectors, "made-up")
    assert heads.embedder == "made-up"
    chances = heads.probabilities(vectors)
    for column, name in enumerate(NAMES):
        true, known = training_heads.labels(name, samples)
        assert known.all()
        assert chances[true, column].mean() > chances[~true, column].mean() + 0.4
        assert chances[:, column].mean() == pytest.approx(true.mean(), abs=0.06)


def test_training_twice_gives_the_same_heads() -> None:
    samples, vectors = made_up(300)
    first, second = (training_heads.train(samples, vectors, "made-up") for _ in range(2))
    assert np.array_equal(first.weights, second.weights)
    assert np.array_equal(first.bias, second.bias)


def test_heads_survive_saving_byte_for_byte(tmp_path: Path) -> None:
    heads = Heads.load()
    training_heads.save(heads, tmp_path / "heads.npz")
    shipped = resources.files("pipeline").joinpath("data/heads.npz")
    assert (tmp_path / "heads.npz").read_bytes() == shipped.read_bytes()
    again = Heads.load(tmp_path / "heads.npz")
    assert np.array_equal(again.weights, heads.weights)


def test_what_is_not_judged_teaches_nothing() -> None:
    women = frozenset({TargetGroup.WOMEN})
    samples = [Sample("a", "EDOS", women, women, True), Sample("b", "MLMA", NOBODY, NOBODY, None)]
    true, known = training_heads.labels("women", samples)
    assert (true.tolist(), known.tolist()) == ([True, False], [True, False])
    assert training_heads.labels("jews", samples)[1].tolist() == [False, False]
    assert training_heads.labels(HATE, samples)[1].tolist() == [True, False]
    assert training_heads.labels(COUNTER, samples)[1].tolist() == [False, False]


def test_cached_embeddings_are_not_computed_again(tmp_path: Path) -> None:
    cache = tmp_path / "cache.npz"
    vectors = np.eye(2, 384, dtype=np.float16)
    np.savez(cache, keys=np.array([hashlib.sha1(t.encode()).hexdigest() for t in ("a", "b")]), vectors=vectors)
    before = cache.read_bytes()
    assert np.array_equal(training_heads.embed_cached(["b", "a"], cache), vectors[::-1].astype(np.float32))
    assert cache.read_bytes() == before


def test_written_sentences_name_every_group_both_ways() -> None:
    samples = list(read_written())
    assert {group for sample in samples for group in sample.groups} == set(TargetGroup)
    assert {sample.hateful for sample in samples} == {True, False}
    assert all(sample.text[0].isupper() and "{" not in sample.text for sample in samples)


@pytest.mark.skipif(not SHARED.exists(), reason="the public data sets are not beside this checkout")
def test_the_flagged_posts_never_teach() -> None:
    samples = read_samples(SHARED)
    posts = (SHARED / "flags/real_posts.jsonl").read_text("utf-8").splitlines()
    real = {_letters(normalise(json.loads(line)["text"])) for line in posts}
    seen = {_letters(sample.text) for sample in samples if not sample.held_out}
    assert not {text for text in real & seen if len(text) > 20}
    assert sum(sample.held_out and sample.origin == "real posts" for sample in samples) > 950
    assert len(samples) < 20_000


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
