"""Tables for people's spreadsheets: read CSV by commas, semicolons or tabs in any encoding, and write safe cells."""

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
"""What spreadsheets on Windows write; lines that are not UTF-8 are read as it."""
SEPARATORS = ",;\t"
"""What stands between cells; where a comma parts decimals, spreadsheets write semicolons."""
MOST_CHARACTERS = 1_000_000
"""Longest cell; a longer one is a quotation mark that was never closed."""
_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class TextLines:
    """The lines of a file as text: in UTF-16 where it begins with that mark, else each in UTF-8 or Windows-1252.

    `reencoded` counts the lines that were read as the last.
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
    """Yield the rows of a CSV with the number of each one's last line; cells that are missing are empty.

    `path` is named in complaints. Raises BadInput where a needed column is missing or a row can't be taken apart.
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
            row.pop(None, None)  # what stands beyond the last column
            yield rows.line_num, row
    except csv.Error as error:
        first, last = rows.line_num + 1, rows.reader.line_num
        where = f"lines {first} to {last}" if first < last else f"line {last}"
        raise BadInput(
            f"{path}, {where}: {error}; is it CSV with all quotations closed, and marks within them doubled?"
        ) from error


def without_formula(cell: str) -> str:
    """Return a cell that no spreadsheet program takes for a formula: what would begin one gets an apostrophe before it.

    Cells hold strangers' words, and a formula can send what else is in the table away.
    """
    return f"'{cell}" if cell.startswith(_BEGINS_FORMULA) else cell
