from __future__ import annotations

import math

import pytest

from core.domain import TargetGroup
from evaluation.evidence.measures import measure
from evaluation.evidence.yardstick import Post, weighted_kappa

MOON = Post("moon", "they never pay", "en", (TargetGroup.MIGRANTS,))
SEA = Post("sea", "hello", "en", ())
GRADES = {("moon", "tax"): (2, 1), ("moon", "fish"): (0, 1), ("moon", "stone"): (0, 0), ("sea", "tax"): (0, 0)}


def test_a_fitting_text_among_the_first_three_is_a_hit() -> None:
    figures = measure([MOON], {"moon": ["fish", "stone", "tax"]}, GRADES)
    assert (figures.hit, figures.ungraded) == (1.0, 0)
    assert figures.grade == pytest.approx(2 / 3)
    assert figures.wrong == pytest.approx(0.5)
    assert measure([MOON], {"moon": ["fish", "stone", "new", "tax"]}, GRADES).hit == 0.0


def test_what_nobody_graded_is_counted_and_not_called_wrong() -> None:
    figures = measure([MOON], {"moon": ["tax", "new"]}, GRADES)
    assert (figures.ungraded, figures.wrong, figures.grade) == (1, 0.0, 1.5)


def test_silence_is_right_where_no_graded_text_answers() -> None:
    figures = measure([MOON, SEA], {"moon": [], "sea": []}, GRADES)
    assert (figures.hit, figures.none_precision, figures.none_recall) == (0.0, 0.5, 1.0)
    spoken = measure([MOON, SEA], {"moon": ["tax"], "sea": ["tax"]}, GRADES)
    assert math.isnan(spoken.none_precision)
    assert spoken.none_recall == 0.0


def test_a_text_that_comes_too_often_in_a_group_is_named_unless_it_may() -> None:
    posts = [Post(f"p{n}", "", "en", (TargetGroup.WOMEN,)) for n in range(20)]
    results = {post.id: ["magnet", f"own-{post.id}"] for post in posts}
    assert (measure(posts, results, {}).magnet, measure(posts, results, {}).magnet_text) == (0.5, "magnet")
    assert measure(posts, results, {}, frozenset({"magnet"})).magnet == pytest.approx(1 / 40)


def test_kappa_is_one_for_agreement_and_less_for_chance() -> None:
    same = {("p", str(n)): (n % 3, n % 3) for n in range(9)}
    assert weighted_kappa(same) == pytest.approx(1.0)
    chance = {("p", f"{a}{b}"): (a, b) for a in range(3) for b in range(3)}
    assert weighted_kappa(chance) == pytest.approx(0.0)
