"""Choose a file's reader by its name, and by its content where names mislead."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import PurePath

from core.errors import BadInput
from kb.extract.passages import Reader, Reading


def _reader(module: str, function: str) -> Reader:
    """Return a reader whose libraries are loaded on first use, so that a run over web pages needs no PDFium."""

    def read(content: bytes, language: str) -> Reading:
        chosen: Callable[[bytes, str], Reading] = getattr(import_module(f"kb.extract.{module}"), function)
        return chosen(content, language)

    return read


_PDF = _reader("pdf", "read_pdf")
_HTML = _reader("web", "read_html")
_FORMEX = _reader("law", "read_formex")
_READERS: dict[str, Reader] = {
    ".pdf": _PDF,
    ".html": _HTML,
    ".htm": _HTML,
    ".xhtml": _HTML,
    ".xml": _FORMEX,
    ".docx": _reader("office", "read_docx"),
    ".txt": _reader("plain", "read_text"),
    ".md": _reader("plain", "read_markdown"),
    ".markdown": _reader("plain", "read_markdown"),
    ".json": _reader("plain", "read_json"),
}
SUFFIXES = tuple(sorted(_READERS))


def read(content: bytes, name: str, language: str = "") -> Reading:
    """Read a file's content; raises BadInput if it is empty, of an unknown format, damaged, or without text."""
    if not content.strip():
        raise BadInput("The file is empty. Fetch it again.")
    reading = _choose_reader(content, PurePath(name).suffix.casefold())(content, language)
    if not any(not passage.heading for passage in reading.passages) and not reading.notes:
        raise BadInput("The file holds no text. Look at it; perhaps it is a cover sheet or was saved wrongly.")
    return reading


def _choose_reader(content: bytes, suffix: str) -> Reader:
    start = content[:1024].lstrip()
    if start.startswith(b"%PDF-"):
        return _PDF
    if suffix == ".xml" and b"<html" in start.lower():
        return _HTML
    if suffix == ".xml" and not import_module("kb.extract.law").is_formex(content):
        raise BadInput("The XML is neither Formex nor XHTML. Convert it to HTML, text or PDF.")
    if suffix in _READERS:
        return _READERS[suffix]
    raise BadInput(f"Files ending in `{suffix}` can't be read. Give one of {', '.join(SUFFIXES)}.")
