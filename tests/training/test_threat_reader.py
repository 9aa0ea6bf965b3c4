"""The reader of threats: what it learns from, and how it is measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.second_opinion import THREAT
from pipeline.threat_reader import REREAD_FROM
from training.heads.sample import Part
from training.post_layers.lessons import Lesson
from training.threat_reader.data import taught
from training.threat_reader.model_card import Outcome, caught, write_card


def lesson(text: str, threatens: bool, origin: str = "posts", part: Part = Part.REPORT) -> Lesson:
    return Lesson(text, origin, part, {THREAT: (threatens, 1.0)}, label="threat" if threatens else "calm")


def test_learns_from_english_texts_labelled_for_threats_and_from_every_threat() -> None:
    spanish = replace(lesson("Son todos iguales.", True), language="es")
    unlabelled = replace(lesson("They are all alike.", False), opinions={})
    threats = [lesson(f"I will find you {number}.", True, "wording") for number in range(40)]
    others = [lesson(f"They are alike {number}.", False, "wording") for number in range(400)]
    chosen = taught([spanish, unlabelled, *threats, *others])
    assert spanish not in chosen and unlabelled not in chosen
    assert all(threat in chosen for threat in threats)
    assert 0.25 < (len(chosen) - len(threats)) / len(others) < 0.45
    assert taught(others) == taught(others), "the same in every run"


def test_threats_are_counted_where_few_others_are() -> None:
    truth = np.array([False] * 100 + [True] * 4)
    scores = np.array([0.01 * number for number in range(100)] + [0.5, 0.965, 0.98, 2.0])
    assert caught(truth, scores, 0.03) == pytest.approx(0.75)
    assert caught(truth, scores, 0.0) == pytest.approx(0.25)


def test_the_card_measures_both_opinions_as_in_service() -> None:
    lessons = [lesson(f"text {number}", number % 2 == 0, "flagged posts") for number in range(60)]
    firsts = np.array([0.3 if number % 4 == 0 else 0.2 for number in range(60)])
    firsts[0] = REREAD_FROM / 2
    seconds = np.array([3.0 if number % 2 == 0 else -3.0 for number in range(60)])
    outcome = Outcome(lessons, firsts, seconds, np.array([0.5, 0.5, 0.0]))
    assert outcome.both[0] == firsts[0], "surely no threat: it is not read again"
    card = write_card(lessons, outcome, "a digest")
    assert "sha256 `a digest`" in card
    assert "| flagged posts | 30 | 30 |" in card and card.count("| flagged posts: threat | 30 | 0.97 |") == 1
