"""The whole way, from the real documents to paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain import Evidence
from kb.extract import ExtractionReport, GroupTerms, Harvest, Limits, SourceDocument, extract_documents


def documents_below(shared: Path) -> Iterator[SourceDocument]:
    for file in sorted((shared / "un_docs/pdf").glob("*.pdf")):
        symbol = file.stem.replace("_", "/")
        yield known(file, symbol, "United Nations", 1945 + int(symbol.split("/")[2]))
    for file in sorted((shared / "eurlex/cellar_xhtml").glob("*html")):
        yield known(file, file.name.split(".")[0], "European Union", 2010)
    for pattern in ("*/*.json", "*/*.en.md", "udhr/*.html"):
        for file in sorted((shared / "instruments").glob(pattern)):
            yield known(file, file.name, "Treaty body", 1990)


def known(file: Path, symbol: str, institution: str, year: int) -> SourceDocument:
    return SourceDocument(id=symbol, file=file, title=symbol, institution=institution, symbol=symbol, year=year)


pytestmark = pytest.mark.slow

Whole = tuple[ExtractionReport, list[Evidence]]


@pytest.fixture(scope="module")
def whole(shared: Path, terms: GroupTerms, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    with Harvest(tmp_path_factory.mktemp("harvest")) as harvest:
        report = extract_documents(documents_below(shared), harvest=harvest, terms=terms, limits=Limits(workers=2))
        yield report, list(harvest.evidence())


def test_one_call_takes_in_every_document_and_no_text_twice(whole: Whole) -> None:
    report, evidence = whole
    assert (report.failed, report.problems) == (0, [])
    assert report.documents >= 60
    assert report.paragraphs == len(evidence) > 3000
    assert (
        len({paragraph.id for paragraph in evidence})
        == len({paragraph.text for paragraph in evidence})
        == len(evidence)
    )
    assert report.folded > 400


def test_paragraphs_have_the_size_asked_for_unless_a_whole_article_is_shorter(whole: Whole) -> None:
    sizes = [
        (len(paragraph.text.split()), paragraph.source.locator) for paragraph in whole[1] if paragraph.language != "zh"
    ]
    assert max(size for size, _ in sizes) <= 180
    short = [place for size, place in sizes if size < 40]
    assert len(short) <= 0.1 * len(sizes)
    assert all(not place.startswith(("Paragraph", "Page")) for place in short)


def test_every_id_leads_back_to_its_document_and_place(whole: Whole) -> None:
    for paragraph in whole[1]:
        document, _, key = paragraph.id.partition("#")
        assert document == paragraph.source.symbol
        assert key.split(".")[0] == re.sub(r"[^\w]+", "-", paragraph.source.locator.casefold()).strip("-")


def test_no_page_artifacts_are_left(whole: Whole) -> None:
    text = "\n".join(paragraph.text for paragraph in whole[1] if paragraph.source.symbol.startswith("A/RES/"))
    for pattern in (r"\d\d-\d{5}", r"Distr\.: General", r"IN WITNESS WHEREOF the", r"_{5,}", r"\.{6,}", r"\bIbid\."):
        assert not re.search(pattern, text), pattern


def test_languages_are_marked(whole: Whole) -> None:
    languages = {paragraph.source.symbol: paragraph.language for paragraph in whole[1]}
    assert {languages[f"{name}.html"] for name in ("spa", "fra", "deu_1996")} == {"es", "fr", "de"}
