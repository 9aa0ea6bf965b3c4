"""The lists that the head of self-harm learns from and is measured on, and its shipped figures."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from models.embedders import default_embedder
from pipeline.self_harm import SelfHarmHead
from training.heads.sample import Part
from training.self_harm import data, train


def test_each_language_has_both_kinds_and_no_post_twice() -> None:
    own, unseen = list(data.own()), list(data.unseen())
    counts = Counter((sample.origin, sample.language, sample.risk) for sample in (*own, *unseen))
    assert all(counts[data.OWN, language, risk] >= 130 for language in data.LANGUAGES for risk in (True, False))
    assert all(counts[data.UNSEEN, language, risk] == 24 for language in data.LANGUAGES for risk in (True, False))
    texts = [sample.text.casefold() for sample in (*own, *unseen)]
    assert [text for text, count in Counter(texts).items() if count > 1] == []
    assert {sample.part for sample in own} == {Part.TRAIN}
    assert {sample.part for sample in unseen} == {Part.REPORT}


def test_the_fit_finds_what_tells_a_risk() -> None:
    vectors = np.random.default_rng(1).normal(size=(800, 5)).astype(np.float32)
    samples = [data.Sample("", bool(vector[2] > 0), data.OWN, "en", Part.TRAIN) for vector in vectors]
    head = train.fit(vectors, samples)
    assert int(np.argmax(np.abs(head.weights))) == 2
    assert head.score(np.eye(5, dtype=np.float32)[2]) > 0.9


async def test_the_shipped_head_finds_most_hints_of_another_writer_and_few_other_posts() -> None:
    head, embedder = SelfHarmHead.load(), default_embedder()
    assert head.embedder == embedder.name
    unseen = list(data.unseen())
    vectors = await embedder.queries([sample.text for sample in unseen])
    await embedder.close()
    found = Counter(sample.risk for sample, vector in zip(unseen, vectors, strict=True) if head.score(vector) >= 0.5)
    assert found[True] == pytest.approx(76, abs=4)
    assert found[False] == pytest.approx(10, abs=4)
