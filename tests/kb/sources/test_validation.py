from __future__ import annotations

from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from kb.sources.validation import Format, Reason, Refusal, examine, recognise

URL = "https://example.org/x"
ALL = set(Format)


def seen(content: bytes, *formats: Format, status: int = 200, **headers: str) -> Reason | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    refusal = examine(URL, status, named, content, formats or ALL)
    return refusal.reason if refusal else None


@pytest.mark.parametrize("status", [200, 202, 403, 405])
def test_recognises_the_recorded_challenge_page_whatever_its_status(shared: Path, status: int) -> None:
    page = (shared / "eurlex/recorded_http/eurlex_aws_waf_challenge_202.html").read_bytes()
    assert seen(page, Format.HTML, status=status) is Reason.CHALLENGE


def test_recognises_a_challenge_by_its_header_alone() -> None:
    assert seen(b"", status=202, x_amzn_waf_action="challenge") is Reason.CHALLENGE


def test_recognises_the_recorded_300_and_keeps_its_list(shared: Path) -> None:
    page = (shared / "eurlex/recorded_http/cellar_300_multiple_choice_32016R0679_fmx4.html").read_bytes()
    refusal = examine(URL, 300, {}, page, {Format.XML})
    assert refusal is not None
    assert (refusal.reason, refusal.body) == (Reason.CHOICES, page)


def test_recognises_a_web_page_in_place_of_a_pdf_and_says_so() -> None:
    refusal = examine(URL, 200, {"content-type": "application/pdf"}, b"<!DOCTYPE html><html></html>", {Format.PDF})
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.WRONG_FORMAT
    assert "HTML in place of PDF (called application/pdf)" in str(refusal)


@pytest.mark.parametrize("status", [200, 400, 500])
def test_recognises_composed_virtuoso_errors(status: int) -> None:
    syntax = b"Virtuoso 37000 Error SP030: SPARQL compiler, line 3: syntax error at 'WHER'\n\nSPARQL query:\nSELECT"
    slow = b"Virtuoso S1T00 Error SR171: Transaction timed out\n\nSPARQL query:\nSELECT"
    assert seen(syntax, Format.JSON, status=status) is Reason.ENDPOINT_ERROR
    assert seen(slow, Format.JSON, status=status) is Reason.TIMEOUT


def test_recognises_a_partial_result_by_its_header() -> None:
    assert seen(b'{"results": {}}', Format.JSON, x_sql_state="S1TAT") is Reason.TIMEOUT


def test_shows_no_more_of_a_long_address_than_fits_a_line() -> None:
    assert len(str(Refusal(Reason.EMPTY, "https://example.org/" + "x" * 5000, "no rows"))) < 200


@pytest.mark.parametrize("content", [b"", b" \n\t "])
def test_recognises_an_empty_body_with_200(content: bytes) -> None:
    assert seen(content) is Reason.EMPTY


@pytest.mark.parametrize(
    ("status", "kind"),
    [(202, Reason.EMPTY), (204, Reason.EMPTY), (401, Reason.FORBIDDEN), (403, Reason.FORBIDDEN), (404, Reason.MISSING),
     (406, Reason.MISSING), (410, Reason.MISSING), (429, Reason.BUSY), (500, Reason.BROKEN), (502, Reason.BROKEN),
     (503, Reason.BUSY), (504, Reason.TIMEOUT), (418, Reason.UNREADABLE)],
)  # fmt: skip
def test_names_every_status(status: int, kind: Reason) -> None:
    assert seen(b"<html><body>no</body></html>", status=status) is kind


def test_takes_every_real_document_for_whole(shared: Path) -> None:
    files = [*shared.glob("un_docs/pdf/*.pdf"), *shared.glob("eurlex/cellar_xhtml/*.*html"),
             *shared.glob("eurlex/formex/*.xml"), *shared.glob("eurlex/notices/*.xml"),
             *shared.glob("undl/tind_api/*.xml"), *shared.glob("undl/marcxml_excerpts/*.xml")]  # fmt: skip
    assert len(files) > 40
    assert {file.name: seen(file.read_bytes()) for file in files if seen(file.read_bytes())} == {}


def test_recognises_real_documents_cut_short(shared: Path) -> None:
    files = [*shared.glob("un_docs/pdf/*.pdf"), *shared.glob("eurlex/cellar_xhtml/*.*html"),
             *shared.glob("eurlex/formex/*.xml"), shared / "undl/tind_api/records-api-search-p1.xml"]  # fmt: skip
    for file in files:
        content = file.read_bytes()
        assert seen(content[: len(content) * 2 // 3]) is Reason.TRUNCATED, file.name


def test_recognises_a_torn_archive() -> None:
    out = BytesIO()
    with ZipFile(out, "w") as archive:
        archive.writestr("word/document.xml", "text " * 1000)
    assert seen(out.getvalue()) is None
    assert seen(out.getvalue()[:-30]) is Reason.TRUNCATED


@pytest.mark.parametrize(
    ("content", "form"),
    [(b"%PDF-1.7\n", Format.PDF), (b"\xef\xbb\xbf<?xml version='1.0'?><a/>", Format.XML), (b'[{"a": 1}]', Format.JSON),
     (b"\n<html lang='en'>", Format.HTML), (b"Virtuoso", Format.TEXT), (b"\0\1\2", None), (b"", None)],
)  # fmt: skip
def test_recognises_formats_by_their_first_bytes(content: bytes, form: Format | None) -> None:
    assert recognise(content) is form
