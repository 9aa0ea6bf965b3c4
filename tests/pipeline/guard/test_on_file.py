"""Which sentences count as a wording on file, so that no check has to read them again."""

from __future__ import annotations

import pytest

from core.settings import Settings
from pipeline.guard.material import GuardContext, material
from rejoinder.guard_assembly import open_guard
from tests.factories import make_evidence, make_post, make_source

FACTS = {
    "en": "Everyone on Zorblax has the right to a moon, and 60% of them rent one.",
    "es": "Hay pocos indicios de que los zorblaxianos roben lunas, según 1.500 informes.",
    "it": "Ci sono pochi indizi che gli zorblaxiani rubino lune.",
    "eu": "Zorblaxtarrek ilargi bat izateko eskubidea dute.",
}
SOURCE = make_source(institution="Moon Agency", title="Lunar Survey", year=2020)


def _context(language: str) -> GuardContext:
    evidence = make_evidence(text=FACTS[language], language=language, source=SOURCE)
    return GuardContext(post=make_post(text="Moons are theirs."), language=language, evidence=(evidence,))


def _is_quoted(text: str, language: str = "en") -> bool:
    (part,) = material(text, _context(language)).parts
    return part.quoted


@pytest.mark.parametrize(
    "text",
    [
        FACTS["en"],
        FACTS["en"].upper(),
        FACTS["en"].removesuffix("."),
        f"Lunar Survey (Moon Agency, 2020): {FACTS['en']}",
        f"According to the Moon Agency, {FACTS['en']}",
    ],
)
def test_the_fact_itself_is_on_file_whatever_its_case_end_or_source(text: str) -> None:
    assert _is_quoted(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (f"Not {FACTS['en']}", "en"),
        (f"Hardly {FACTS['en']}", "en"),
        (f"But {FACTS['en']}", "en"),
        (f"Nobody at the Moon Agency says: {FACTS['en']}", "en"),
        (f"No {FACTS['es']}", "es"),
        (f"Non {FACTS['it']}", "it"),
        (f"Ez, {FACTS['eu']}", "eu"),
    ],
)
def test_a_fact_behind_a_negation_or_a_bare_connective_is_not_on_file(text: str, language: str) -> None:
    assert not _is_quoted(text, language)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (".", "?"),
        (".", " 🤡."),
        ("right", '"right"'),
        ("right", "‘right’"),
        ("60%", "60"),
        ("60%", "−60%"),
    ],
)
def test_a_fact_with_another_sign_is_not_on_file(old: str, new: str) -> None:
    assert not _is_quoted(FACTS["en"].replace(old, new))


@pytest.mark.parametrize("number", ["1,500", "1 500", "15.00"])
def test_a_figure_written_in_another_way_is_not_on_file(number: str) -> None:
    assert not _is_quoted(FACTS["es"].replace("1.500", number), "es")


async def test_the_guard_of_the_desk_stops_a_fact_turned_around() -> None:
    checks = await open_guard(Settings()).check(f"No {FACTS['es']}", _context("es"))
    assert any(check.hard and not check.passed for check in checks)
