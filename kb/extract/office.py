"""Read Word documents (DOCX)."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from zipfile import BadZipFile

import docx
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table
from docx.text.paragraph import Paragraph

from core.errors import BadInput
from kb.extract.passages import Passage, Reading, reading_of, tidy

_FEWEST_WORDS_IN_CELL = 8
"""Cells with fewer words are figures or labels, which mean nothing without their table."""


def read_docx(content: bytes, _language: str) -> Reading:
    """Read a DOCX without headers, footers, notes and table of contents. Raises BadInput if it is damaged."""
    try:
        document = docx.Document(BytesIO(content))
    except (BadZipFile, PackageNotFoundError, KeyError, ValueError) as error:
        raise BadInput("The file is no DOCX, or a torn one. Fetch it again, or save it from Word as .docx.") from error
    return reading_of(list(_passages(document.iter_inner_content())))


def _passages(items: Iterator[Paragraph | Table]) -> Iterator[Passage]:
    for item in items:
        if isinstance(item, Table):
            yield from _cells(item)
            continue
        style = (item.style.name or "").casefold() if item.style else ""
        if not style.startswith("toc"):
            yield Passage(tidy(item.text), heading=style.startswith(("heading", "title", "subtitle")))


def _cells(table: Table) -> Iterator[Passage]:
    for row in table.rows:
        for cell in row.cells:
            text = tidy(cell.text)
            if len(text.split()) >= _FEWEST_WORDS_IN_CELL:
                yield Passage(text)
