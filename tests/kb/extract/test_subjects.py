from __future__ import annotations

from pathlib import Path

import pytest

from core.domain import TargetGroup
from core.errors import KnowledgeBaseError
from kb.extract.subjects import GroupTerms, language_in

SPANISH = "Todos los seres humanos nacen libres e iguales en dignidad y derechos y deben comportarse fraternalmente."


def test_names_groups_by_their_words_most_named_first(terms: GroupTerms) -> None:
    text = "Migrants, above all migrant women, and Persons\u2011with\u2011disabilities."
    assert terms.named_in("Migrants, above all migrant women.") == (TargetGroup.MIGRANTS, TargetGroup.WOMEN)
    assert TargetGroup.DISABLED in terms.named_in(text)
    assert terms.named_in("The womenfolk of Zorblax emigrants.") == ()


def test_falls_back_to_the_document_then_to_its_title(terms: GroupTerms) -> None:
    text = "Everybody may vote."
    assert terms.groups_of(text, "On women", (TargetGroup.LGBT,)) == (TargetGroup.LGBT,)
    assert terms.groups_of(text, "On women", ()) == (TargetGroup.WOMEN,)
    assert terms.groups_of(text, "On all", ()) == (TargetGroup.OTHER,)


def test_reads_terms_synonyms_and_instruments_from_toml(tmp_path: Path) -> None:
    sheet = tmp_path / "keywords.toml"
    sheet.write_text(
        '[jews]\nterms = ["antisemitism"]\nsynonyms = ["Jewish people"]\ninstruments = ["A/RES/76/250"]\n'
        'categories = ["RELIGION"]\n'
    )
    terms = GroupTerms.load(sheet)
    assert terms.named_in("See A/RES/76/250.") == (TargetGroup.JEWS,)
    assert terms.named_in("RELIGION") == ()


def test_a_torn_keyword_file_is_refused(tmp_path: Path) -> None:
    sheet = tmp_path / "keywords.toml"
    sheet.write_text("[jews\n")
    with pytest.raises(KnowledgeBaseError, match="keywords"):
        GroupTerms.load(sheet)


def test_a_paragraph_in_another_language_is_marked_so() -> None:
    assert language_in(SPANISH, "en") == "es"
    assert language_in("Article 12, no. 4", "es") == "es"
