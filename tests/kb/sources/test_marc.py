from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import KnowledgeBaseError
from kb.sources.marc import CatalogueFile, language_of_file, plain_symbol, read_records


def test_reads_a_recorded_record(shared: Path) -> None:
    (record,) = read_records((shared / "undl/marcxml_excerpts/undl_4096564_voting_record_trimmed.xml").read_bytes())
    assert record.number == "4096564"
    assert record.symbols == ("A/RES/80/214",)
    assert record.title == "National human rights institutions"
    assert record.statement == "resolution / adopted by the General Assembly"
    assert record.year == 2025
    assert record.subjects == ("HUMAN RIGHTS ADVANCEMENT", "NATIONAL INSTITUTIONS--HUMAN RIGHTS")


def test_reads_a_record_that_lacks_most(shared: Path) -> None:
    (record,) = read_records((shared / "undl/marcxml_excerpts/undl_4025240_voting_record_trimmed.xml").read_bytes())
    assert (record.symbols, record.title, record.subjects) == (("A/RES/ES-10/21",), "", ())


def test_reads_files_in_a_recorded_answer_of_the_same_software(shared: Path) -> None:
    (record,) = read_records((shared / "undl/tind_api/record-184453.xml").read_bytes())
    assert record.files == (
        CatalogueFile("http://digicoll.lib.berkeley.edu/record/184453/files/cubanc144_1_7.pdf", None),
    )


@pytest.mark.parametrize(
    ("name", "count"),
    [("records-api-search-p7.xml", 0), ("records-manual-search.xml", 10), ("records-api-search.xml", 5)],
)  # fmt: skip
def test_reads_recorded_lists_of_records_and_the_empty_one(shared: Path, name: str, count: int) -> None:
    assert len(read_records((shared / "undl/tind_api" / name).read_bytes())) == count


def test_says_that_an_answer_is_torn(shared: Path) -> None:
    content = (shared / "undl/tind_api/records-api-search.xml").read_bytes()
    with pytest.raises(KnowledgeBaseError, match="torn"):
        read_records(content[:5000])


@pytest.mark.parametrize(
    ("label", "name", "language"),
    [("English", "x.pdf", "en"), ("Français", "x.pdf", "fr"), ("", "A_RES_80_193-ES.pdf", "es"),
     ("", "A_RES_80_193_RU", "ru"), ("", "report.pdf", None), ("Other", "x-DE.pdf", None)],
)  # fmt: skip
def test_tells_a_files_language(label: str, name: str, language: str | None) -> None:
    assert language_of_file(label, name) == language


def test_writes_symbols_as_documents_bear_them() -> None:
    assert [plain_symbol(symbol) for symbol in ("S/RES/2812 (2026)", "[A/80/1]", " A/RES/80/193 ")] == [
        "S/RES/2812(2026)", "A/80/1", "A/RES/80/193"]  # fmt: skip
