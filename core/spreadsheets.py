"""Exchange with spreadsheets: read CSV with any usual separator and encoding, and write safe cells."""

from __future__ import annotations

import csv
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Sequence
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from core.errors import BadInput

FALLBACK_ENCODING = "cp1252"
"""The encoding that spreadsheets on Windows write; used for lines that are not valid UTF-8."""
SEPARATORS = ",;\t"
"""Possible separators between cells; where the comma is the decimal mark, spreadsheets write semicolons."""
MOST_CHARACTERS = 1_000_000
"""Longest cell, in characters; a longer one means that a quotation mark was never closed."""
_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class TextLines:
    """The lines of a file as text: UTF-16 if it begins with that byte-order mark, else UTF-8 or Windows-1252 per line.

    `reencoded` counts the lines read as Windows-1252.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.reencoded = 0
        self._file = file

    def __iter__(self) -> Iterator[str]:
        start = self._file.read(2)
        self._file.seek(0)
        if start in (BOM_UTF16_LE, BOM_UTF16_BE):
            wide = TextIOWrapper(self._file, "utf-16", errors="replace", newline="")
            yield from wide
            wide.detach()
            return
        for number, line in enumerate(self._file):
            line = line.removeprefix(BOM_UTF8) if number == 0 else line
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError:
                self.reencoded += 1
                yield line.decode(FALLBACK_ENCODING, "replace")


def read_rows(lines: Iterable[str], path: Path, needed: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each row of a CSV with the number of its last line; missing cells are empty.

    `path` is used in error messages. Raises BadInput if a needed column is missing or a row can't be parsed.
    """
    csv.field_size_limit(MOST_CHARACTERS)
    unread = iter(lines)
    header = next(unread, "")
    separator = max(SEPARATORS, key=header.count)
    rows = csv.DictReader(chain([header], unread), delimiter=separator, restval="", strict=True)
    try:
        columns = rows.fieldnames or []
        missing = [name for name in needed if name not in columns]
        if missing:
            named = ", ".join(columns)
            present = f"its columns: {named}" if named.isprintable() else "it is no text"
            raise BadInput(f"{path} has no column {', '.join(missing)} ({present}); it needs {', '.join(needed)}.")
        for row in rows:
            row.pop(None, None)  # cells beyond the last column
            yield rows.line_num, row
    except csv.Error as error:
        first, last = rows.line_num + 1, rows.reader.line_num
        where = f"lines {first} to {last}" if first < last else f"line {last}"
        raise BadInput(
            f"{path}, {where}: {error}; is it CSV with all quotations closed, and marks within them doubled?"
        ) from error


def without_formula(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula: an apostrophe is put before a character that begins one.

    Cells contain strangers' words, and a formula could send the rest of the table away.
    """
    return f"'{cell}" if cell.startswith(_BEGINS_FORMULA) else cell
