from __future__ import annotations

import re
from collections import Counter
from io import BytesIO
from pathlib import Path

import pypdfium2 as pdfium
import pytesseract
import pytest

from kb.extract import ocr
from kb.extract.pdf import page_lines, read_pdf

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


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.casefold()))


def test_a_scanned_page_keeps_nine_words_in_ten(scan: tuple[bytes, str]) -> None:
    if not ocr.installed_packs():
        pytest.skip("Tesseract is not installed (Debian: apt-get install tesseract-ocr tesseract-ocr-eng)")
    content, text = scan
    reading = read_pdf(content, "en")
    wanted, found = words(text), words(" ".join(passage.text for passage in reading.passages))
    assert (reading.pages, reading.scanned, reading.notes) == (1, 1, ())
    assert sum((wanted & found).values()) >= 0.9 * sum(wanted.values())
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
