"""Quantities in words stand for the values they mean, and for no others."""

from __future__ import annotations

import time

import pytest

from pipeline.guard.borne_out import given
from pipeline.guard.quantities import Kind, quantities
from pipeline.guard.words import fold


@pytest.mark.parametrize(
    ("language", "said", "evidence", "borne_out"),
    [
        ("en", "three in four of them", "76% of them", True),
        ("en", "one in four of them", "76% of them", False),
        ("en", "more than half of them", "55% of them", True),
        ("en", "nearly half of them", "55% of them", False),
        ("en", "in the seventies", "in 1978", True),
        ("en", "in the fifties", "in 1978", False),
        ("en", "three decades", "thirty years", True),
        ("en", "three centuries", "three decades", False),
        ("en", "well over half a million", "657,461 children", True),
        ("en", "half a million", "300,000 children", False),
        ("en", "hundreds of thousands", "300,000 people", True),
        ("en", "hundreds of thousands", "3,000 people", False),
        ("en", "more than twice", "29.5 and 11.8 in 1,000", True),
        ("en", "a quarter of a century", "25 years", True),
        ("en", "a quarter century", "20 years", False),
        ("en", "a million and a half", "1.5 million children", True),
        ("en", "a million and a half", "2.5 million children", False),
        ("en", "two and a half million", "2.5 million children", True),
        ("es", "dos millones y medio", "2,5 millones", True),
        ("es", "ni una de cada diez mil", "el 0,0084 %", True),
        ("es", "ni una de cada diez mil", "el 0,084 %", False),
        ("it", "quasi sette milioni", "6 milioni 788 mila", True),
        ("it", "quasi una persona di origine straniera su due", "il 45 %", True),
        ("it", "quasi una persona di origine straniera su tre", "il 45 %", False),
        ("es", "una de cada dos", "el 50 %", True),
        ("es", "en los años treinta", "en 1933", True),
        ("es", "en los años cincuenta", "en 1933", False),
        ("it", "da sette secoli", "da settecento anni", True),
        ("it", "da sette decenni", "da settecento anni", False),
        ("eu", "erdiak baino gehiago", "%55ek", True),
        ("eu", "lautik hiru", "%75", True),
    ],
)
def test_a_quantity_is_borne_out_by_the_value_it_means(
    language: str, said: str, evidence: str, borne_out: bool
) -> None:
    known = given(fold(evidence), language, 2026)
    read = [quantity for quantity in quantities(fold(said), language) if quantity.kind is not Kind.TIMES or borne_out]
    assert any(map(known.bears_out, read)) is borne_out


@pytest.mark.parametrize(("language", "word"), [("en", "one "), ("es", "mil "), ("it", "un "), ("eu", "bat ")])
def test_a_text_of_number_words_is_read_in_bounded_time(language: str, word: str) -> None:
    began = time.process_time()
    quantities((word * 5000)[:5000], language)
    assert time.process_time() - began < 3
