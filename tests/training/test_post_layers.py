"""What the layers for posts say is summed up without loss that matters, and counted beside the first opinion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kb.claims.loading import load_claims
from models.e5_tuned import SUMMED
from training.claims.data import Post
from training.claims.unseen import NATURAL
from training.heads.sample import Part

opinions = pytest.importorskip("training.post_layers.opinions")
lessons = pytest.importorskip("training.post_layers.lessons")
reliability = pytest.importorskip("training.post_layers.reliability")
ONE = np.ones((1, 1), np.float32)
SHARES = opinions.Shares({"hate": (0.7, 0.3)}, (0.4, 0.6, 0.0))
SHARED = Path(__file__).parents[3] / "shared" / "data"


def test_heads_that_agree_are_summed_up_without_loss() -> None:
    chance = np.random.default_rng(0)
    pooled = chance.normal(size=(500, 768)).astype(np.float32)
    weights = (chance.normal(size=(300, 40)) @ chance.normal(size=(40, 768))).astype(np.float32)
    bias = chance.normal(size=300).astype(np.float32)
    sums = opinions.sum_up(weights, bias, np.ones(300, np.float32), pooled)
    assert sums.summed.shape == (SUMMED, 768)
    readings = pooled @ sums.summed.T + sums.bias
    assert np.allclose(readings @ sums.back.T + sums.centre, pooled @ weights.T + bias, atol=0.1)


def flags(count: int) -> list[Any]:
    return [
        lessons.Lesson(f"flag {number}", "real posts", Part.CALIBRATE, {"hate": (number % 2 == 0, 1.0)})
        for number in range(count)
    ]


def test_a_second_opinion_that_is_right_raises_what_is_true() -> None:
    posts = flags(40)
    firsts = [opinions.First({"hate": 0.5}) for _ in posts]
    readings = np.array([[1.0 if post.opinions["hate"][0] else -1.0] for post in posts], np.float32)
    fitted = opinions.fit_opinion(["hate"], ONE, ONE[0] * 0, posts, firsts, readings, SHARES)
    said = [fitted.beside({"hate": 0.5}, reading)["hate"] for reading in readings]
    assert min(said[::2]) > 0.7
    assert max(said[1::2]) < 0.3


def test_what_nobody_calibrates_counts_as_it_comes() -> None:
    posts = [replace(post, part=Part.REPORT) for post in flags(4)]
    firsts = [opinions.First({"hate": 0.5}) for _ in posts]
    fitted = opinions.fit_opinion(["hate"], ONE, ONE[0] * 0, posts, firsts, np.zeros((4, 1), np.float32), SHARES)
    assert fitted.shares.tolist() == [pytest.approx([0.7, 0.3, 0.0])]


def test_a_claim_that_both_name_is_surer_than_one_that_one_names() -> None:
    posts, firsts = [], []
    for number in range(60):
        makes = frozenset({"a" if number % 2 else "b"})
        posts.append(lessons.Lesson(f"{number}", "unseen", Part.CALIBRATE, {"threat": (False, 1.0)}, 0, makes))
        firsts.append(opinions.First({}, np.array([0.6, 0.4] if number % 2 else [0.4, 0.6], np.float32), 0.5))
    readings = np.array([[3.0, 0.0] if number % 2 else [0.0, 3.0] for number in range(60)], np.float32)
    weights, nought = np.eye(2, dtype=np.float32), np.zeros(3, np.float32)
    fitted = opinions.fit_claims(("a", "b"), weights, nought[:2], nought, posts, firsts, readings, SHARES)
    first = np.array([0.6, 0.4, 0.3], np.float32)
    both = fitted.probabilities(("a", "b", "new"), first, np.array([3.0, 0.0], np.float32))
    one = fitted.probabilities(("a", "b"), first[:2], np.zeros(2, np.float32))
    assert both[0] > one[0]
    assert both[1] < one[1]
    assert both[2] == np.float32(0.3), "a claim that was added since keeps the first opinion"


def test_reliability_is_told_by_language_and_range() -> None:
    def own(hateful: bool, language: str, part: Part = Part.REPORT) -> Any:
        return lessons.Lesson("text", "own posts", part, {"hate": (hateful, 1.0)}, language=language)

    posts = [own(True, "eu"), own(False, "eu"), own(True, "en"), own(True, "eu", Part.TRAIN)]
    rows = list(reliability.reliability_rows(posts, np.array([0.2, 0.1, 1.0, 0.2], np.float32)))
    assert rows == [
        "| twins and own posts | en | 0.8 to 1 | 1 | 1.00 | 1.00 |",
        "| twins and own posts | eu | 0.08 to 0.25 | 2 | 0.15 | 0.50 |",
    ]


def test_half_of_the_natural_mix_is_never_learned_from() -> None:
    posts = [Post("text", None, frozenset(), id=f"{NATURAL}:{number}") for number in range(2000)]
    parts = [lessons.part_of_unseen(post) for post in posts]
    assert 0.45 < parts.count(Part.TRAIN) / len(parts) < 0.55
    assert parts.count(Part.CALIBRATE) > 400
    assert parts.count(Part.REPORT) > 400


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the data sets of `../shared` are absent")
def test_no_lesson_repeats_the_letters_of_a_text_that_is_measured_on() -> None:
    read = lessons.read_lessons(SHARED, load_claims(), Path("kb/claims"))
    apart = {lessons.letters(lesson.text) for lesson in read if lesson.part is not Part.TRAIN}
    taught = lessons.thinned(read)
    assert len(taught) > 50_000
    long = (lesson for lesson in taught if len(lesson.text) > lessons.SHORT)
    assert not [lesson for lesson in long if lessons.letters(lesson.text) in apart]
