"""The reader of posts: what it learns from, and how it is measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.evidence.yardstick import FRESH, read_fresh, read_posts
from kb.claims.loading import load_claims
from kb.claims.second_opinion import ClaimOpinion
from pipeline.heads import HATE, NAMES
from pipeline.normalise import normalise
from pipeline.post_reader import REREAD_HATE_FROM, REREAD_THREAT_FROM
from pipeline.second_opinion import THREAT, SecondOpinion
from training.heads.data import SHORT, letters
from training.heads.sample import Part
from training.post_layers.lessons import Lesson

opinions = pytest.importorskip("training.post_layers.opinions")
data = pytest.importorskip("training.post_reader.data")
card = pytest.importorskip("training.post_reader.model_card")
SHARED = Path(__file__).parents[3] / "shared" / "data"


def lesson(text: str, origin: str = "posts", **answers: bool) -> Lesson:
    return Lesson(text, origin, Part.TRAIN, {name: (answer, 1.0) for name, answer in answers.items()})


def test_a_text_is_learned_once_with_all_that_is_known_of_it() -> None:
    hateful, threatens = lesson("They ruin it.", "Hatemoji", hate=True), lesson("They ruin it.", threat=False)
    claims = replace(lesson("They ruin it.", "labels", hate=False), kind=1, claims=frozenset({"ruin"}))
    other = lesson("They sing.", hate=False)
    once, alone = data.merged([hateful, threatens, claims, other])
    assert (once.origin, once.claims, once.kind) == ("labels", frozenset({"ruin"}), 1)
    assert once.opinions == {"hate": (False, 1.0), "threat": (False, 1.0)}, "those of a lesson with claims count first"
    assert alone == other


def outcome(firsts: list[tuple[float, float]], seconds: list[float]) -> Any:
    """Return an outcome for lessons with first probabilities of hate and threat, and the model's log odds of both."""
    lessons = [
        replace(lesson(f"text {row}", "flagged posts", threat=row % 2 == 0), label="threat" if row % 2 == 0 else "calm")
        for row in range(len(firsts))
    ]
    names = (*NAMES, THREAT)
    nothing = dict.fromkeys(names, 0.5)
    read = [opinions.First(nothing | {HATE: hate, THREAT: threat}) for hate, threat in firsts]
    opinion = SecondOpinion(
        "small", names, np.ones((len(names), 1), np.float32), np.zeros(len(names), np.float32),
        np.array([[0.5, 0.5, 0.0]] * len(names), np.float32),
    )  # fmt: skip
    none = np.zeros((0, 1), np.float32)
    claims = ClaimOpinion(
        (), none, none[:, 0], np.zeros(2, np.float32), np.zeros(4, np.float32), np.ones(3, np.float32)
    )
    return card.in_service(lessons, read, np.array(seconds, np.float32)[:, np.newaxis], opinion, claims)


def test_posts_are_measured_as_in_service() -> None:
    nearly = REREAD_HATE_FROM / 2, REREAD_THREAT_FROM / 2
    measured = outcome([nearly, (REREAD_HATE_FROM, 0.0), (0.0, REREAD_THREAT_FROM)], [3.0, 3.0, 3.0])
    assert measured.asked.tolist() == [False, True, True]
    assert np.allclose(measured.together[0], measured.first[0]), "surely harmless: it is not read again"
    assert (measured.together[1:] > measured.first[1:]).all()
    assert [measured.counts(row) for row in range(3)] == [False, True, True]


def test_kinds_are_counted_at_the_limit() -> None:
    measured = outcome([(0.5, 0.3 if row % 4 == 0 else 0.2) for row in range(60)], [4.0, -4.0] * 30)
    rows = list(card._kinds(measured, 0.5))
    assert rows == ["| flagged posts: threat | 30 | 1.00 | 1.00 | | flagged posts: calm | 30 | 0.00 |"]


def test_what_triage_does_is_told_by_group() -> None:
    measured = outcome([(0.9, 0.0), (0.1, 0.0), (0.9, 0.9)], [2.0, -4.0, 2.0])
    flags = [
        replace(each, origin="real posts", part=Part.REPORT, opinions={"jews": (True, 1.0)}, label="hate")
        for each in measured.lessons
    ]
    (row,) = card._routes(replace(measured, lessons=flags))
    assert row.startswith("| jews | 3 |")
    assert [float(cell) for cell in row.split("|")[3:7]] == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3], abs=0.01)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the data sets of `../shared` are absent")
def test_only_english_is_learned_and_nothing_that_is_measured_on() -> None:
    taught, apart = data.read_post_lessons(SHARED, Path.cwd())
    assert {each.language for each in (*taught, *apart)} == {"en"}
    assert len(taught) > 40_000
    measured = {letters(each.text) for each in apart}
    files = load_claims()
    yardstick = [post.text for post in read_posts(SHARED)]
    yardstick += [post.text for name in FRESH for post in read_fresh(files, name)]
    measured |= {letters(normalise(text)) for text in yardstick}
    assert not [each for each in taught if len(each.text) > SHORT and letters(each.text) in measured]
