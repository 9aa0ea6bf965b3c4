"""The look-up must notice a wrong figure, term or place: a check that passes everything is worth nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("document", "locator", "words"),
    [
        ("instruments/laws_markdown_en/icerd_1965.en.md", "Article 5(d)", "marriage and choice of spouse"),
        ("instruments/laws_markdown_en/icerd_1965.en.md", "Article 5(d)", "without distinction as to race"),
        ("instruments/laws_markdown_en/refugee_protocol_1967.en.md", "Article I", "without any geographic limitation"),
        ("instruments/laws_markdown_en/european_social_charter_revised_1996.en.md", "Article E", "national minority"),
        ("instruments/laws_markdown_en/european_social_charter_revised_1996.en.md", "Preamble", "turin"),
        ("instruments/open_treaties_json/genocide.json", "Article III", "conspiracy to commit genocide"),
        ("instruments/open_treaties_json/iccpr.json", "Article 20(2)", "advocacy of national, racial"),
        ("instruments/open_treaties_json/crpd.json", "Preamble", "evolving concept"),
        ("instruments/udhr/udhr_eng.html", "Article 1", "spirit of brotherhood"),
        ("instruments/udhr/udhr_eng.html", "Preamble", "freedom from fear and want"),
        ("un_docs/extracted_json/A_RES_79_149.json", "Preamble", "sustainable development"),
        ("un_docs/extracted_json/A_RES_80_218.json", "Paragraph 4(a)", "stereotypes often applied to them"),
        ("eurlex/cellar_xhtml/12012P_TXT.en.xhtml", "Article 21(1)", "sexual orientation"),
        ("eurlex/cellar_xhtml/32006L0054.en.xhtml", "Recital 3", "gender reassignment"),
        ("fra/survey_csv/EU_LGBT_2012_LGBT_Survey_RightsAwareness.csv", "Table: Austria, Lesbian, d1, Yes", "53"),
        ("fra/survey_csv/EU_LGBTI_II_2019_FRA_EU-T1Q1.xlsx", "Table: EU-28, Gay men, 25-39, Always", "41"),
    ],
)
def test_the_words_are_found_where_they_stand(
    read_source: Callable[[str], Any], documents: Any, document: str, locator: str, words: str
) -> None:
    text = read_source(document).at(locator)
    assert text is not None
    assert words in documents.normalise(text)


@pytest.mark.parametrize(
    ("document", "locator", "words"),
    [
        ("instruments/laws_markdown_en/icerd_1965.en.md", "Article 5(c)", "marriage and choice of spouse"),
        ("instruments/laws_markdown_en/icerd_1965.en.md", "Article 6", "marriage and choice of spouse"),
        ("instruments/open_treaties_json/iccpr.json", "Article 20(1)", "advocacy of national, racial"),
        ("un_docs/extracted_json/A_RES_80_218.json", "Paragraph 4(b)", "stereotypes often applied to them"),
        ("un_docs/extracted_json/A_RES_80_218.json", "Preamble", "mutual recognition of skills"),
        ("eurlex/cellar_xhtml/12012P_TXT.en.xhtml", "Article 21(2)", "sexual orientation"),
        ("eurlex/cellar_xhtml/32006L0054.en.xhtml", "Recital 4", "gender reassignment"),
        ("fra/survey_csv/EU_LGBT_2012_LGBT_Survey_RightsAwareness.csv", "Table: Austria, Gay, d1, Yes", "53"),
    ],
)
def test_the_words_are_not_found_elsewhere(
    read_source: Callable[[str], Any], documents: Any, document: str, locator: str, words: str
) -> None:
    assert words not in documents.normalise(read_source(document).at(locator))


@pytest.mark.parametrize(
    ("document", "locator"),
    [
        ("instruments/laws_markdown_en/icerd_1965.en.md", "Article 99"),
        ("instruments/laws_markdown_en/icerd_1965.en.md", "Article 5(z)"),
        ("un_docs/extracted_json/A_RES_79_149.json", "Paragraph 400"),
        ("eurlex/cellar_xhtml/32006L0054.en.xhtml", "Recital 400"),
        ("fra/survey_csv/EU_LGBT_2012_LGBT_Survey_RightsAwareness.csv", "Table: Atlantis, Lesbian, d1, Yes"),
        ("fra/fra_page_texts_recorded.md", "Page text"),
    ],
)
def test_a_place_that_is_not_there_is_none(read_source: Callable[[str], Any], document: str, locator: str) -> None:
    assert read_source(document).at(locator) is None


def test_numbers_leave_codes_and_separators_out(documents: Any) -> None:
    assert documents.numbers("c10 asks 93,079 people, 1.3 billion or 16%, in 2012.") == {"93079", "1.3", "16", "2012"}


def test_running_heads_and_footnotes_are_no_part_of_a_paragraph(read_source: Callable[[str], Any]) -> None:
    whole = read_source("un_docs/extracted_json/A_RES_79_149.json").whole
    assert "24-24136\n2/12" not in whole
    assert "Treaty Series" not in whole
