from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from core.domain import TargetGroup
from kb.extract import ExtractionReport, GroupTerms, Harvest, Limits, SourceDocument, extract_documents
from kb.extract.harvest import Status

MakeDocument = Callable[..., SourceDocument]

TEXT = "The council of the {0} harbour found in {1} that women who arrive by boat are as welcome there as anybody else."


def text(name: str, year: int = 2020, times: int = 3) -> bytes:
    return "\n\n".join(TEXT.format(f"{name}{n}", year) for n in range(times)).encode()


def run(documents: list[SourceDocument], folder: Path, terms: GroupTerms, **changed: float) -> ExtractionReport:
    limits = replace(Limits(workers=1, seconds=60), **changed)  # type: ignore[arg-type]
    with Harvest(folder) as harvest:
        return extract_documents(documents, harvest=harvest, terms=terms, limits=limits)


def test_goes_on_past_broken_files_and_names_them(
    tmp_path: Path, make_document: MakeDocument, terms: GroupTerms
) -> None:
    good = make_document("good.txt", text("north"))
    documents = [
        make_document("torn.pdf", b"%PDF-1.7\nand then nothing"),
        make_document("empty.html", b""),
        good,
        good.model_copy(update={"id": "gone", "file": tmp_path / "gone.txt"}),
        make_document("copy.txt", text("north")),
    ]
    progress: list[tuple[int, int]] = []
    with Harvest(tmp_path / "h") as harvest:
        report = extract_documents(
            documents,
            lambda done, total, _: progress.append((done, total)),
            harvest=harvest,
            terms=terms,
            limits=Limits(workers=2),
        )
        (only,) = harvest.evidence()
    assert progress == [(n, 5) for n in range(1, 6)]
    assert (report.documents, report.failed, report.repeated_documents, report.paragraphs) == (5, 3, 1, 1)
    assert {problem.document: problem.message.split(".")[0] for problem in report.problems if problem.fatal} == {
        "torn.pdf": "The PDF is torn (PDFium can't open it)",
        "empty.html": "The file is empty",
        "gone": "The file can't be read: No such file or directory",
    }
    assert (only.id, only.source.locator, only.language) == ("copy.txt#text", "Text", "en")
    assert only.groups == (TargetGroup.WOMEN,)


def test_a_second_run_reads_only_what_changed(tmp_path: Path, make_document: MakeDocument, terms: GroupTerms) -> None:
    documents = [make_document(f"d{n}.txt", text(f"d{n}")) for n in range(3)]
    documents.append(make_document("torn.pdf", b"%PDF-1.7\nand then nothing"))
    first = run(documents, tmp_path / "h", terms)
    documents[1].file.write_bytes(text("rebuilt"))
    second = run(documents, tmp_path / "h", terms)
    third = run([*documents[:2], documents[2].model_copy(update={"title": "Another"})], tmp_path / "h", terms)
    assert (first.unchanged, second.unchanged, third.unchanged) == (0, 3, 2)
    assert second.failed == 1
    with Harvest(tmp_path / "h") as harvest:
        by_id = {paragraph.id: paragraph for paragraph in harvest.evidence()}
    assert "rebuilt0" in by_id["d1.txt#text"].text
    assert by_id["d2.txt#text"].source.title == "Another"


def test_an_interrupted_run_resumes_where_it_stood(
    tmp_path: Path, make_document: MakeDocument, terms: GroupTerms
) -> None:
    documents = [make_document(f"d{n}.txt", text(f"d{n}")) for n in range(6)]

    def stop(done: int, _total: int, _document: SourceDocument) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with Harvest(tmp_path / "h") as harvest, pytest.raises(KeyboardInterrupt):
        extract_documents(documents, stop, harvest=harvest, terms=terms, limits=Limits(workers=1))
    report = run(documents, tmp_path / "h", terms)
    assert (report.unchanged, report.paragraphs) == (2, 6)


def test_cites_the_newest_of_repeated_paragraphs_whatever_the_order(
    tmp_path: Path, make_document: MakeDocument, terms: GroupTerms
) -> None:
    repeated = text("north") + b"\n\nThis was decided without a vote."
    documents = [make_document(f"{year}.txt", repeated + str(year).encode(), year=year) for year in (2001, 2019, 2010)]
    ids = []
    for name, order in (("one", documents), ("other", documents[::-1])):
        run(order, tmp_path / name, terms, workers=2)
        with Harvest(tmp_path / name) as harvest:
            ids.append([paragraph.id for paragraph in harvest.evidence()])
    assert ids == [["2019.txt#text"], ["2019.txt#text"]]


def test_an_endless_document_is_given_up(tmp_path: Path, make_document: MakeDocument, terms: GroupTerms) -> None:
    endless = make_document("endless.txt", b"".join(b"word%d and so on, " % n for n in range(3_000_000)))
    report = run([endless], tmp_path / "h", terms, seconds=2)
    assert "took longer" in report.problems[0].message
    assert report.seconds < 30


def test_a_document_that_eats_memory_is_given_up(
    tmp_path: Path, make_document: MakeDocument, terms: GroupTerms
) -> None:
    bomb = make_document("bomb.docx", _bomb(), year=2021)
    good = make_document("good.txt", text("north"))
    report = run([bomb, good], tmp_path / "h", terms, memory_mb=900)
    assert (report.failed, report.paragraphs) == (1, 1)
    assert report.problems[0].document == "bomb.docx"
    with Harvest(tmp_path / "h") as harvest:
        entry = harvest.find("bomb.docx")
    assert entry
    assert entry.status is Status.FAILED


def _bomb() -> bytes:
    """Return a Word file of a few hundred kilobytes that unpacks to 120 MB."""
    import docx

    out, packed = BytesIO(), BytesIO()
    docx.Document().save(out)
    with zipfile.ZipFile(out) as source, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for item in source.infolist():
            content = source.read(item)
            if item.filename == "word/document.xml":
                content = re.sub(rb"<w:body>", b"<w:body>" + b"<w:p/>" * 20_000_000, content)
            target.writestr(item, content)
    return packed.getvalue()
