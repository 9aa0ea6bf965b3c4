from __future__ import annotations

import ast
import csv
import hashlib
import json
import zipfile
from collections.abc import Collection, Iterator, Mapping
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from core.domain import TargetGroup
from pipeline.heads import COUNTER, HATE, NAMES, Heads
from pipeline.normalise import normalise
from training.heads.data import LONGEST, SHORT, letters, part_of_flag, read_samples, reserved_posts
from training.heads.sample import EVERY, NOBODY, Part, Sample
from training.heads.written import read_claims, read_functional, read_written

training_heads = pytest.importorskip("training.heads.train")
ROOT = Path(__file__).parents[2]
SHARED, CLAIMS = ROOT / "../shared/data", ROOT / "kb/claims"


def made_up(count: int = 9000) -> tuple[list[Sample], np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    """Return samples and vectors in which each head's answer is one coordinate's sign."""
    vectors = np.random.default_rng(0).normal(size=(count, 16)).astype(np.float32)
    samples = [
        Sample(f"text {number % 3}", "real posts" if number % 3 == 0 else "HateXplain",
               frozenset(g for g, x in zip(TargetGroup, row, strict=False) if x > 0.5), EVERY, bool(row[8] > 0),
               bool(row[9] > 1), Part.CALIBRATE if number % 3 == 0 else Part.TRAIN, family=str(number))
        for number, row in enumerate(vectors)
    ]  # fmt: skip
    return samples, vectors


def test_training_learns_every_head_and_calibrates_it() -> None:
    samples, vectors = made_up()
    heads = training_heads.train(samples, vectors, "made-up")
    assert heads.embedder == "made-up"
    chances = heads.probabilities(vectors, [sample.text for sample in samples])
    for column, name in enumerate(NAMES):
        true, known = training_heads.labels(name, samples)
        assert known.all()
        assert chances[true, column].mean() > chances[~true, column].mean() + 0.3
        assert chances[:, column].mean() == pytest.approx(true.mean(), abs=0.06)


def test_training_twice_gives_the_same_heads() -> None:
    samples, vectors = made_up(900)
    first, second = (training_heads.train(samples, vectors, "made-up") for _ in range(2))
    assert np.array_equal(first.embedding_weights, second.embedding_weights)
    assert np.array_equal(first.ngram_weights, second.ngram_weights)


def test_heads_survive_saving_byte_for_byte(tmp_path: Path) -> None:
    heads = Heads.load()
    training_heads.save(heads, tmp_path / "heads.npz")
    shipped = resources.files("pipeline").joinpath("data/heads.npz")
    assert (tmp_path / "heads.npz").read_bytes() == shipped.read_bytes()
    again = Heads.load(tmp_path / "heads.npz")
    assert np.array_equal(again.ngram_weights, heads.ngram_weights)


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


def test_reported_sentences_share_no_template_with_training() -> None:
    samples = list(read_functional())
    taught = {sample.family for sample in samples if sample.part is Part.TRAIN}
    reported = [sample for sample in samples if sample.part is Part.REPORT]
    assert not taught & {sample.family for sample in reported}
    assert 200 < len(reported) < 400
    assert {sample.language for sample in reported} == {"en", "es", "it", "eu"}
    assert {sample.hateful for sample in reported} == {True, False}


def test_what_is_claimed_of_two_groups_names_neither(tmp_path: Path) -> None:
    claim = """[[claim]]
id = "{0}"
gist = {{ en = "{0} lie." }}
[claim.wordings]
en = ["they all lie"]
[claim.counter.informative]
en = ["{0} speak the truth."]
"""
    for group in ("jews", "women"):
        (tmp_path / f"{group}.toml").write_text(claim.format(group))
    samples = {sample.text: sample for sample in read_claims(tmp_path)}
    assert samples["jews lie."].groups == {TargetGroup.JEWS}
    assert samples["they all lie"].groups == samples["they all lie"].judged == NOBODY
    assert samples["they all lie"].hateful
    assert samples["women speak the truth."].counter


@pytest.fixture(scope="module")
def all_samples() -> list[Sample]:
    if not SHARED.exists():
        pytest.skip("the public data sets are not beside this checkout")
    return read_samples(SHARED, CLAIMS)


def test_the_flagged_posts_never_teach(all_samples: list[Sample]) -> None:
    posts = [json.loads(line) for line in (SHARED / "flags/real_posts.jsonl").read_text("utf-8").splitlines()]
    real = {letters(normalise(post["text"])) for post in posts}
    seen = {letters(sample.text) for sample in all_samples if sample.part is Part.TRAIN}
    assert not {text for text in real & seen if len(text) > SHORT}
    assert sum(sample.part is not Part.TRAIN and sample.origin == "real posts" for sample in all_samples) > 950
    parts = [part_of_flag(f"{post['post_id']}_{post['platform']}") for post in posts]
    assert 450 < parts.count(Part.REPORT) < 550
    assert len(all_samples) < 50_000


def test_the_posts_that_evidence_is_measured_on_never_teach(all_samples: list[Sample]) -> None:
    reserved = reserved_posts()
    assert len(reserved["hatexplain"]) > 100
    assert len(reserved["mlma"]) > 10
    texts = {letters(text[:LONGEST]) for text in _reserved_texts(reserved)}
    texts = {text for text in texts if len(text) > SHORT}
    assert len(texts) > 150
    assert not texts & {letters(sample.text) for sample in all_samples if sample.part is Part.TRAIN}


def _reserved_texts(reserved: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield the reserved posts' texts as each data set writes them."""
    sets = SHARED / "datasets"
    for split in ("val", "test"):
        with (sets / f"HateXplain/df_{split}_processed.csv").open(newline="", encoding="utf-8") as file:
            yield from (normalise(" ".join(ast.literal_eval(row["post_tokens"])))
                        for row in csv.DictReader(file) if row["id"] in reserved["hatexplain"])  # fmt: skip
    cases = json.loads((sets / "CrowdCounter/Final_Dataset_additional_context.json").read_text("utf-8")).values()
    yield from (normalise(case["post"]) for case in cases if case["org_id"] in reserved["hatexplain"])
    with zipfile.ZipFile(sets / "MLMA/hate_speech_mlma.zip") as archive:
        rows = archive.read("hate_speech_mlma/en_dataset.csv").decode("utf-8").splitlines()
    yield from (normalise(row["tweet"]) for row in csv.DictReader(rows) if row["HITId"] in reserved["mlma"])
