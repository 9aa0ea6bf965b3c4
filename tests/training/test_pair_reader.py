"""The card of the reader of pairs: both readers side by side, by question and kind."""

from __future__ import annotations

import numpy as np

from models.e5 import PAIR_QUESTIONS
from training.pair_layers.data import FOLLOWS, OPPOSES, Pair
from training.pair_reader.model_card import write_card


def pair(question: str, answer: bool, kind: str) -> Pair:
    return Pair("first", "second", question, answer, kind, "en", "source")


def test_the_card_has_both_readers_and_what_they_say_together() -> None:
    opposing = [pair(OPPOSES, True, "value")] * 2 + [pair(OPPOSES, False, "denial")] * 2
    following = [pair(FOLLOWS, True, "paraphrase"), pair(FOLLOWS, False, "flip")]
    pairs = [*opposing, *following]
    layers, reader = np.zeros((2, len(pairs), len(PAIR_QUESTIONS)), np.float32)
    layers[:, PAIR_QUESTIONS.index(OPPOSES)] = [1, 1, 3, -1, 0, 0]
    reader[:, PAIR_QUESTIONS.index(OPPOSES)] = [4, -2, -4, -1, 0, 0]
    layers[:, PAIR_QUESTIONS.index(FOLLOWS)] = [0, 0, 0, 0, 1, -1]
    reader[:, PAIR_QUESTIONS.index(FOLLOWS)] = [0, 0, 0, 0, 1, -1]
    card = write_card(opposing, pairs, layers, reader, "a digest")
    assert "sha256 `a digest`" in card and "Trained on 4 pairs" in card and "Measured on 6 pairs" in card
    assert "| value | yes | 2 | 1.00 | 0.50 | 0.50 |" in card
    assert "| denial | no | 2 | 0.50 | 1.00 | 1.00 |" in card
    assert "AUC: 1.000, 1.000, 1.000 (layers, reader, both)" in card
