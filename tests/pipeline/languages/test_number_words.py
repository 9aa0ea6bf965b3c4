"""Every language pack reads the numbers of its language, in words and as percentages."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from core.settings import GuardSettings
from pipeline.guard import GuardContext
from pipeline.guard.figures import figures
from pipeline.guard.material import material
from pipeline.guard.numbers import numbers
from pipeline.guard.words import fold
from pipeline.languages import pack, packs
from tests.factories import make_evidence, make_post, make_source

WRITTEN: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("number_words.toml").read_text(encoding="utf-8")
)

each_language = pytest.mark.parametrize("language", sorted(packs()))


def written(language: str) -> dict[str, int]:
    """Return numbers by how they are written: 0 to 100 and some larger."""
    upto_100 = " ".join(WRITTEN[language]["upto_100"].split()).split(", ")
    assert len(upto_100) == 101
    return {**{words: value for value, words in enumerate(upto_100)}, **WRITTEN[language]["larger"]}


def read(text: str, language: str) -> list[tuple[float, bool]]:
    return [(figure.value, figure.percent) for figure in figures(text, language)]


def passes(text: str, language: str) -> bool:
    source = make_source(institution="Office", title="Survey", symbol="S", locator="Table", year=2024)
    evidence = make_evidence(text="16 %", source=source, language=language)
    context = GuardContext(post=make_post(), language=language, evidence=(evidence,))
    return numbers(material(text, context), context, GuardSettings()).passed


def test_every_pack_has_its_samples_here() -> None:
    assert set(WRITTEN) == set(packs())


@each_language
def test_numbers_are_read_from_words(language: str) -> None:
    doubtful = pack(language).numbers.doubtful
    expected = {
        words: [] if fold(words) in doubtful else [(value, False)] for words, value in written(language).items()
    }
    assert {words: read(f"… {words} …", language) for words in expected} == expected


@each_language
def test_percentages_are_read_from_words(language: str) -> None:
    percent = WRITTEN[language]["percent"]
    expected = {percent.format(words): [(value, True)] for words, value in written(language).items()}
    assert {words: read(words.capitalize(), language) for words in expected} == expected


@each_language
def test_the_percent_word_alone_is_no_figure(language: str) -> None:
    assert read(WRITTEN[language]["percent"].format("…"), language) == []


@each_language
def test_invented_figures_fail_in_words_too(language: str) -> None:
    assert [text for text in WRITTEN[language]["invented"] if passes(text, language)] == []


@each_language
def test_a_figure_of_the_evidence_may_be_written_in_words(language: str) -> None:
    assert [text for text in WRITTEN[language]["supported"] if not passes(text, language)] == []


@each_language
def test_number_words_are_written_folded_and_in_one_list(language: str) -> None:
    grammar = pack(language).numbers
    listed = [*grammar.words, *grammar.doubtful, *grammar.alone, *grammar.magnitudes, *grammar.joiners]
    assert [word for word in listed if word != fold(word)] == []
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("vingt", "fr", [20]),
        ("three hundred five thousand", "en", [305_000]),
        ("two, three and ten", "en", [2, 3, 10]),
        ("In 2012, thousands came", "en", [2012, 1000]),
        ("entre veinte y treinta", "es", [20, 30]),
        ("zwei und drei", "de", [2, 3]),
        ("Milioi bat pertsona", "eu", [1e6]),
        ("sei sicuro", "it", []),
        ("hier und da eine Zahl", "de", []),
        ("drei" * 30, "de", []),
        ("twenty‑one", "en", [21]),
    ],
)
def test_where_a_number_ends(text: str, language: str, values: list[float]) -> None:
    assert [value for value, _ in read(text, language)] == values
