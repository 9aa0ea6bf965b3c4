from __future__ import annotations

import pytest

from pipeline.guard.words import LONGEST_STEMMED, content, stem, words
from pipeline.languages import DEFAULT, packs


@pytest.mark.parametrize(
    ("language", "form", "other_form"),
    [
        ("en", "discriminated", "discrimination"),
        ("en", "women", "woman"),
        ("en", "using", "use"),
        ("es", "discriminación", "discriminaciones"),
        ("es", "peligrosa", "peligrosos"),
        ("it", "discriminazione", "discriminazioni"),
        ("it", "diritto", "diritti"),
        ("fr", "égale", "égaux"),
        ("fr", "droit", "droits"),
        ("de", "Rechte", "Recht"),
        ("de", "Diskriminierung", "Diskriminierungen"),
        ("eu", "emakumeak", "emakumeek"),
    ],
)
def test_forms_of_a_word_meet_with_and_without_accents(language: str, form: str, other_form: str) -> None:
    assert content(words(form), language) == content(words(other_form), language) != frozenset()


def test_the_language_of_the_comparison_decides_what_carries_meaning() -> None:
    assert content(words("die"), "en")
    assert not content(words("die"), "de")


def test_possessives_are_dropped_typographic_ones_too() -> None:
    assert words("women's women’s") == ("women", "women")


@pytest.mark.parametrize("language", [*packs(), "pt", "und"])
def test_any_word_has_a_stem(language: str) -> None:
    for word in ("a", "不", "ß", "x" * LONGEST_STEMMED, "y" * 20_000, "12"):
        assert stem(word, language)


def test_a_language_without_a_pack_is_cut_like_the_default() -> None:
    assert stem("nations", "pt") == stem("nations", DEFAULT) == "nation"
