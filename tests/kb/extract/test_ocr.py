from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pypdfium2 as pdfium
import pytesseract
import pytest
from PIL.Image import Image

from kb.extract import ocr
from kb.extract.lines import Line
from kb.extract.ocr import OcrFailed, pack_for
from kb.extract.pdf import page_lines, read_pdf

MakePdf = Callable[[list[list[tuple[float, float, float, str]]]], bytes]

DPI = 200


@pytest.fixture(scope="module")
def scan(shared: Path) -> tuple[bytes, str]:
    """Print a page of a resolution, and scan it: a PDF that holds one picture. Also the words on it."""
    document = pdfium.PdfDocument(shared / "un_docs/pdf/A_RES_80_193.pdf")
    page = document[3]
    out = BytesIO()
    page.render(scale=DPI / 72).to_pil().convert("L").save(out, "PDF", resolution=DPI)
    text = " ".join(line.text for line in page_lines(page))
    document.close()
    return out.getvalue(), text


@pytest.fixture
def with_english_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "installed_packs", lambda: frozenset({"eng", "osd"}))


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.casefold()))


def test_a_scanned_page_keeps_nine_words_in_ten(scan: tuple[bytes, str]) -> None:
    if not ocr.installed_packs():
        pytest.skip("Tesseract is not installed (Debian: apt-get install tesseract-ocr tesseract-ocr-eng)")
    content, text = scan
    reading = read_pdf(content, "en")
    printed, recognised = words(text), words(" ".join(passage.text for passage in reading.passages))
    assert (reading.pages, reading.scanned, reading.notes) == (1, 1, ())
    assert sum((printed & recognised).values()) >= 0.9 * sum(printed.values())
    assert any(passage.text.startswith("Underlining the intensity") for passage in reading.passages)


def test_without_tesseract_the_page_is_reported_with_how_to_get_it(
    scan: tuple[bytes, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytesseract.pytesseract, "tesseract_cmd", "/nowhere/tesseract")
    ocr.installed_packs.cache_clear()
    try:
        reading = read_pdf(scan[0], "en")
    finally:
        ocr.installed_packs.cache_clear()
    assert reading.passages == ()
    assert "Page 1 is a picture" in reading.notes[0]
    assert "apt-get install tesseract-ocr" in reading.notes[0]


@pytest.mark.parametrize(
    ("language", "package"), [("ar", "ara"), ("ru", "rus"), ("el", "ell"), ("zh", "chi-sim"), ("uk", "ukr")]
)
def test_another_script_is_not_read_as_english(with_english_only: None, language: str, package: str) -> None:
    with pytest.raises(OcrFailed, match=f"apt-get install tesseract-ocr-{package}`"):
        pack_for(language)


def test_a_language_that_no_pack_is_known_for_is_not_read_as_english(with_english_only: None) -> None:
    with pytest.raises(OcrFailed, match="no language pack for `xx`"):
        pack_for("xx")


@pytest.mark.parametrize(("language", "package"), [("de", "deu"), ("pl", "pol"), ("sv", "swe")])
def test_a_latin_script_is_read_as_english_with_a_note(with_english_only: None, language: str, package: str) -> None:
    pack, note = pack_for(language)
    assert pack == "eng"
    assert f"apt-get install tesseract-ocr-{package}`" in note


@pytest.mark.parametrize(("language", "pack"), [("ar", "ara"), ("de", "deu"), ("en", "eng"), ("", "eng")])
def test_an_installed_pack_is_used_without_a_note(monkeypatch: pytest.MonkeyPatch, language: str, pack: str) -> None:
    monkeypatch.setattr(ocr, "installed_packs", lambda: frozenset({"eng", "ara", "deu"}))
    assert pack_for(language) == (pack, "")


def test_the_report_says_what_a_scan_was_read_as(
    monkeypatch: pytest.MonkeyPatch, with_english_only: None, make_pdf: MakePdf
) -> None:
    packs: list[str] = []

    def read(image: Image, pack: str, scale: float) -> list[Line]:
        packs.append(pack)
        return [Line("Die Boote liegen im Hafen.", 50, 200, 700, 712, 0.0)]

    monkeypatch.setattr(ocr, "recognise_image", read)
    two_scans = make_pdf([[(50, 700, 12, "I")], [(50, 700, 12, "I")]])
    german = read_pdf(two_scans, "de")
    assert (packs, german.scanned, len(german.passages), len(german.notes)) == (["eng", "eng"], 2, 2, 1)
    assert "read as English" in german.notes[0]
    arabic = read_pdf(two_scans, "ar")
    assert (len(packs), arabic.passages, len(arabic.notes)) == (2, (), 2)
    assert "Page 1 is a picture" in arabic.notes[0] and "tesseract-ocr-ara" in arabic.notes[0]
