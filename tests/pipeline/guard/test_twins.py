"""Words must stop a reply that its evidence does not bear out, however near it comes, and pass its honest twin."""

from __future__ import annotations

import pytest

from pipeline.guard.borne_out import given
from pipeline.guard.quantities import quantities
from pipeline.guard.words import fold
from tests.factories import make_evidence, make_source
from tests.pipeline.guard.by_words import YEAR, stopped_by_words


def reasons(evidence: str, sentence: str, language: str = "en", post: str = "…", source_year: int = 2019) -> list[str]:
    """Return why words stop a reply of an opening and `sentence`."""
    source = make_source(institution="Harbour Office", title="A report", symbol="", locator="", year=source_year)
    statement = make_evidence("1", evidence, source=source, language=language)
    return [f"{name}: {detail}" for name, detail in stopped_by_words(statement, sentence, post).items()]


CRIMES = "The Harbour Office found that migrants were suspected in fewer crimes than before."
MIGRANTS_IT = "Secondo l'ufficio del porto, le persone migranti sono sospettate di meno reati di prima."
CHILDREN = "A study followed 657,461 children and found no more autism among those who were vaccinated."


@pytest.mark.parametrize(
    ("language", "evidence", "wrong"),
    [
        (
            "en",
            CRIMES,
            "The Harbour Office found that migrants were suspected in more than 1,500 crimes.",
        ),
        (
            "en",
            CRIMES,
            "The Harbour Office found that migrants were suspected in thousands of crimes.",
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


@pytest.mark.parametrize(
    ("language", "said", "evidence", "borne_out"),
    [
        ("en", "more than 440,000", "657,461 children", False),
        ("en", "more than 600,000", "657,461 children", True),
        ("en", "more than half a million", "657,461 children", True),
        ("en", "over a hundred", "126 scholars", True),
        ("en", "over a hundred", "1,260 scholars", False),
        ("en", "over 30 percent", "39 percent", False),
        ("en", "nearly 350", "300 people", False),
        ("en", "up to 350", "300 people", False),
        ("en", "up to 300", "300 people", True),
        ("en", "no more than 350", "300 people", False),
        ("en", "no less than 350", "300 people", False),
        ("en", "up to 5.5 percent", "5 percent", False),
        ("en", "up to a third of them", "33 percent", True),
        ("es", "hasta 350", "300 personas", False),
        ("es", "hasta 300", "300 personas", True),
        ("it", "fino a 350", "300 persone", False),
        ("eu", "350 arte", "300 lagun", False),
        ("eu", "gehienez 350", "300 lagun", False),
    ],
)
def test_over_and_up_to_stay_near_the_figure(language: str, said: str, evidence: str, borne_out: bool) -> None:
    known = given(fold(evidence), language, YEAR)
    read = quantities(fold(said), language)
    assert read
    assert any(map(known.bears_out, read)) is borne_out


@pytest.mark.parametrize("said", ["more than 440,000", "up to 700,000"])
def test_a_figure_that_is_only_near_is_stopped(said: str) -> None:
    assert reasons(CHILDREN, f"A study followed {said} children and found no more autism among the vaccinated.") != []
    assert reasons(CHILDREN, "A study of more than 650,000 children found no more autism among the vaccinated.") == []


MOST = "The Harbour Office found that most arrivals work within a year."
RECENT = "The Harbour Office found that the most recent arrivals work within a year."


def test_most_is_more_than_half_and_no_exact_share() -> None:
    assert reasons(MOST, "The Harbour Office found that more than half of arrivals work within a year.") == []
    assert reasons(MOST, "The Harbour Office found that 51% of arrivals work within a year.") != []
    assert reasons(MOST, "The Harbour Office found that half of arrivals work within a year.") != []


def test_the_most_recent_are_no_majority() -> None:
    assert reasons(RECENT, "The Harbour Office found that more than half of arrivals work within a year.") != []


ACCUSED = "75% of migrants are criminals"
WORKERS = "The Harbour Office found that migrants were charged with fewer crimes than natives."


@pytest.mark.parametrize("share", ["three in four", "75%", "more than half"])
def test_a_figure_of_the_post_is_no_finding_of_a_source(share: str) -> None:
    assert (
        reasons(WORKERS, f"The Harbour Office found that {share} migrants were charged with crimes.", post=ACCUSED)
        != []
    )


def test_a_figure_of_the_post_may_be_refuted_as_written() -> None:
    assert (
        reasons(WORKERS, "It is false that 75% of migrants are criminals, the Harbour Office says.", post=ACCUSED) == []
    )


FEW = "The Harbour Office found that 1 in 20 arrivals was charged with a crime in the first year."
SAMPLE = "The Harbour Office found that 30 of 400 arrivals were charged with a crime in the first year."
RATES = "The Harbour Office found 29.5 charges in 1,000 natives and 11.8 charges in 1,000 arrivals."


@pytest.mark.parametrize(
    ("evidence", "wrong"),
    [
        (FEW, "The Harbour Office found that nearly all arrivals were charged with a crime in the first year."),
        (FEW, "The Harbour Office found that over 1 in 5 arrivals was charged with a crime in the first year."),
        (
            SAMPLE,
            "The Harbour Office found that 13 times as many arrivals were charged with a crime in the first year.",
        ),
        (SAMPLE, "The Harbour Office found that twice as many arrivals were charged with a crime in the first year."),
    ],
)
def test_a_share_is_no_ratio_and_not_nearly_all(evidence: str, wrong: str) -> None:
    assert reasons(evidence, wrong) != []


def test_a_ratio_of_two_compared_rates_is_borne_out() -> None:
    assert (
        reasons(RATES, "The Harbour Office found more than twice as many charges in 1,000 natives as in arrivals.")
        == []
    )


SHARE = "The Harbour Office found that 76% of arrivals work within a year."


def test_a_quantity_that_is_borne_out_excuses_no_other_number() -> None:
    assert reasons(SHARE, "The Harbour Office found that three in four arrivals work within a year.") == []
    assert reasons(SHARE, "The Harbour Office found that three in four arrivals work and three were killed.") != []


FALSE = "The Oxford study found it false that migrants raise crime in Denmark."


@pytest.mark.parametrize(
    ("evidence", "wrong"),
    [
        (FALSE, "What the Oxford study found on migrants and crime in Denmark is false."),
        (FALSE, "The Oxford study of migrants and crime in Denmark is false."),
        (FALSE, "The Oxford study is false on migrants and crime in Denmark."),
        (FALSE, "It is false what the Oxford study found on migrants and crime in Denmark."),
        (
            "The Oxford survey of falling crime calls it a myth that migrants raise crime.",
            "The Oxford survey of migrants and falling crime is a myth.",
        ),
    ],
)
def test_evidence_that_calls_a_claim_untrue_may_not_be_called_untrue_itself(evidence: str, wrong: str) -> None:
    assert reasons(evidence, wrong) != []


@pytest.mark.parametrize(
    "honest",
    [
        "It is false that migrants raise crime in Denmark, as the Oxford study found.",
        "The Oxford study called it false that migrants raise crime in Denmark.",
    ],
)
def test_a_reply_may_call_untrue_what_its_evidence_does(honest: str) -> None:
    assert reasons(FALSE, honest) == []


def test_the_symbol_of_a_document_is_known_beside_a_near_copy() -> None:
    source = make_source(institution="Harbour Office", title="A resolution", symbol="A/76/254", locator="", year=2022)
    evidence = "The port reaffirms that piracy and violence must not be associated with any harbour, guild or trade."
    statement = make_evidence("1", evidence, source=source)
    sentence = (
        "In resolution {} of 2022 the port reaffirms that piracy and violence must not be associated with any trade."
    )
    assert "swap" not in stopped_by_words(statement, sentence.format("76/254"))
    assert stopped_by_words(statement, sentence.format("76/245"))


def test_the_numbers_of_a_citation_count_nothing_else() -> None:
    source = make_source(
        institution="Harbour Office", title="A charter", symbol="A/RES/217", locator="Article 14", year=2019
    )
    evidence = "The Harbour Office says that in the port 30 sailors are free to speak their minds on deck."
    statement = make_evidence("1", evidence, source=source)
    honest = "In {} the Harbour Office says that in the port 30 sailors are free to speak their minds."
    assert "swap" not in stopped_by_words(statement, honest.format("article 14"))
    assert "swap" not in stopped_by_words(statement, honest.format("A/RES/217"))
    for count in (14, 217):
        assert "swap" in stopped_by_words(statement, evidence.replace("30", str(count)))
