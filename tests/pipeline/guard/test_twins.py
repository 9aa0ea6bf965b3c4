"""Words must stop a reply that its evidence does not bear out, however near it comes, and pass its honest twin."""

from __future__ import annotations

import pytest

from core.settings import GuardSettings
from pipeline.guard import GuardContext, word_checks
from pipeline.guard.material import material
from tests.factories import make_evidence, make_post, make_source

CHECKS = word_checks(GuardSettings(), judged=True)
OPENING = {"en": "Nobody deserves less.", "es": "Nadie merece menos.", "it": "Nessuno merita di meno."}
YEAR = 2026


def reasons(evidence: str, sentence: str, language: str = "en", post: str = "…", source_year: int = 2019) -> list[str]:
    """Return why words stop a reply of an opening and `sentence`."""
    source = make_source(institution="Harbour Office", title="A report", symbol="", locator="", year=source_year)
    statement = make_evidence("1", evidence, source=source, language=language)
    context = GuardContext(make_post(text=post), language, evidence=(statement,), year=YEAR)
    reply = material(f"{OPENING[language]} {sentence}", context)
    results = (check.check(reply, context) for check in CHECKS)
    return [f"{result.name}: {result.detail}" for result in results if result.hard and not result.passed]


CRIMES = "The Harbour Office found that migrants were suspected in fewer crimes than before."
MIGRANTS_IT = "Secondo l'ufficio del porto, le persone migranti sono sospettate di meno reati di prima."
CHILDREN = "A study followed 657,461 children and found no more autism among those who were vaccinated."


@pytest.mark.parametrize(
    ("language", "evidence", "wrong"),
    [
        (
            "en",
            CRIMES,
            "The Harbour Office found that migrants were suspected in more than 1,500 crimes fewer than before.",
        ),
        (
            "en",
            CRIMES,
            "The Harbour Office found that migrants were suspected in thousands of crimes fewer than before.",
        ),
        ("en", CRIMES, "The Harbour Office found that hundreds of migrants were suspected in fewer crimes."),
        ("it", MIGRANTS_IT, "Migliaia di persone migranti sono sospettate di meno reati, secondo l'ufficio del porto."),
    ],
)
def test_the_year_of_a_source_counts_nothing(language: str, evidence: str, wrong: str) -> None:
    assert reasons(evidence, wrong, language) != []


def test_time_since_a_year_is_counted_to_the_year_of_the_check() -> None:
    evidence = "In 1978 the Harbour Office declared that no theory of superior races has a foundation."
    said = "For {} years the Harbour Office has said that no theory of superior races has a foundation."
    assert reasons(evidence, said.format("more than forty"), source_year=1978) == []
    assert reasons(evidence, said.format("more than fifty"), source_year=1978) != []
