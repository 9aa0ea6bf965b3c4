"""Read PDF files with PDFium: lines with their positions on the page, and scanned pages by OCR."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pypdfium2 as pdfium
from pypdfium2 import raw

from core.errors import BadInput
from kb.extract.layout import passages_of
from kb.extract.lines import Glyph, Line, Page, glyph_lines
from kb.extract.ocr import OcrFailed, pack_for, recognise
from kb.extract.page_artifacts import drop_page_artifacts
from kb.extract.passages import Reading

FEWEST_CHARACTERS = 20
"""A page with fewer visible characters has no real text layer, only a stamp or a page number."""


def read_pdf(content: bytes, language: str) -> Reading:
    """Read a PDF; pages without a text layer go through OCR. Raises BadInput for a damaged or locked file."""
    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        raise BadInput(_explain(content, error)) from error
    try:
        pages: list[Page] = []
        notes: list[str] = []
        for number in range(len(document)):
            pages.append(_page(document, number, language, notes))
    finally:
        document.close()
    return Reading(
        tuple(passages_of(drop_page_artifacts(pages))), tuple(notes), len(pages), sum(page.scanned for page in pages)
    )


def page_lines(page: pdfium.PdfPage) -> list[Line]:
    """Return the lines of a page's text layer, in the order in which the page draws them."""
    layer = page.get_textpage()
    try:
        return glyph_lines(_glyphs(layer))
    finally:
        layer.close()


def _page(document: pdfium.PdfDocument, number: int, language: str, notes: list[str]) -> Page:
    try:
        page = document[number]
    except pdfium.PdfiumError as error:
        notes.append(f"Page {number + 1} is damaged and was left out: {error}.")
        return Page(number + 1, 0, ())
    try:
        lines = page_lines(page)
        height = page.get_height()
        if sum(len(line.text.replace(" ", "")) for line in lines) >= FEWEST_CHARACTERS or not _has_drawings(page):
            return Page(number + 1, height, tuple(lines))
        pack, makeshift = pack_for(language)
        scanned = Page(number + 1, height, tuple(recognise(page, pack)), scanned=True)
        if makeshift and makeshift not in notes:
            notes.append(makeshift)
        return scanned
    except OcrFailed as error:
        notes.append(f"Page {number + 1} is a picture without a text layer and was left out: {error}")
        return Page(number + 1, 0, ())
    finally:
        page.close()


def _has_drawings(page: pdfium.PdfPage) -> bool:
    return next(iter(page.get_objects(max_depth=1)), None) is not None


def _explain(content: bytes, error: Exception) -> str:
    if "password" in str(error).lower():
        return "The PDF is locked with a password. Save a copy without one."
    if b"%PDF-" not in content[:1024]:
        return "The file is no PDF, although it is named so. Fetch it again, or name it for what it is."
    return "The PDF is torn (PDFium can't open it). Fetch it again."


def _glyphs(layer: pdfium.PdfTextPage) -> Iterator[Glyph]:
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    for index in range(layer.count_chars()):
        raw.FPDFText_GetCharBox(layer, index, left, right, bottom, top)
        yield Glyph(
            text=_character(raw.FPDFText_GetUnicode(layer, index)),
            left=left.value,
            right=right.value,
            bottom=bottom.value,
            top=top.value,
            size=raw.FPDFText_GetFontSize(layer, index),
            generated=raw.FPDFText_IsGenerated(layer, index) == 1,
        )


def _character(code: int) -> str:
    # PDFium writes 2 or U+FFFE for a hyphen at a line's end, without a line end after it.
    if code in (0x02, 0xFFFE):
        return "\u00ad"
    return chr(code) if code and not 0xD800 <= code <= 0xDFFF else ""
