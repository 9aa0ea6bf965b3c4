from __future__ import annotations

from collections.abc import Callable

import pytest

from core.domain import Check
from pipeline.guard.figures import figures, value_of

Judge = Callable[..., Check]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1,000", 1000),
        ("1.000", 1000),
        ("1 000", 1000),
        ("1'000", 1000),
        ("1,234,567", 1234567),
        ("4.9", 4.9),
        ("4,9", 4.9),
        ("2024", 2024),
        ("1.234,56", 1234.56),
        ("10 000.5", 10000.5),
    ],
)
def test_digits_are_read_in_the_ways_people_write_them(written: str, value: float) -> None:
    assert value_of(written) == value


@pytest.mark.parametrize(
    ("text", "language", "values"),
    [
        ("1.3 billion people", "en", [1.3e9]),
        ("three hundred", "en", [300]),
        ("twenty-five of them", "en", [25]),
        ("in 2012 100 people", "en", [2012, 100]),
        ("16 per cent", "en", [16]),
        ("due to one rule", "en", []),
        ("millions of people", "en", [1e6]),
        ("tres millones", "es", [3e6]),
        ("6 milioni 788 mila", "it", [6_788_000]),
        ("half of them", "en", [0.5]),
        ("12 thousand", "en", [12000]),
        ("vingt", "fr", [20]),
        ("no one", "en", []),
    ],
)
def test_figures_are_found_in_digits_and_words(text: str, language: str, values: list[float]) -> None:
    assert [figure.value for figure in figures(text, language)] == pytest.approx(values)


@pytest.mark.parametrize(
    "text",
    [
        "In 2024 it was 1.3 billion.",
        "It is 16%.",
        "It is 16 %.",
        "It is 16 per cent.",
        "It is 1,300,000,000.",
        "CEDAW dates from 1979, see Article 7.",
        "Resolution 79/149 says so.",
        "A/RES/34/180 says so.",
        "No figures at all.",
        "No one is above the other.",
    ],
)
def test_figures_of_the_evidence_and_its_source_pass(judge: Judge, text: str) -> None:
    check = judge("numbers", text)
    assert check.passed, check.detail


@pytest.mark.parametrize(
    "text",
    [
        "It is 61%.",
        "It was 1978.",
        "It is 1.4 billion.",
        "It is 79 percent.",
        "Half of all women agree.",
        "Millions of women.",
        "See A/RES/34/149.",
        "Two thirds agree.",
        "It is 1.6 per cent.",
        "Resolution 80/149 says so.",
        "It is ١٢.",
    ],
)
def test_invented_figures_fail(judge: Judge, text: str) -> None:
    check = judge("numbers", text)
    assert not check.passed
    assert check.value >= 1


def test_a_figure_of_the_post_may_be_named(judge: Judge) -> None:
    assert judge("numbers", "The number 88 proves nothing.", post="88 percent of zorblaxians").passed


def test_a_plain_number_is_no_percentage(judge: Judge) -> None:
    assert not judge("numbers", "It is 7%.").passed
