"""Tables as spreadsheets of several countries and ages write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import BadInput
from core.spreadsheets import TextLines, read_rows

ROWS = [{"rater": "Begoña", "remark": "so, so"}, {"rater": "ben", "remark": ""}]


def read(path: Path) -> list[dict[str, str]]:
    with path.open("rb") as file:
        return [row for _, row in read_rows(TextLines(file), path, ("rater",))]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "sheet",
    [
        'rater,remark|Begoña,"so, so"|ben',
        "rater;remark|Begoña;so, so|ben;;;more",
        "rater\tremark|Begoña\tso, so|ben\t",
    ],
)
def test_separators_and_encodings_of_spreadsheets(tmp_path: Path, sheet: str, end: str, encoding: str) -> None:
    file = tmp_path / "sheet.csv"
    file.write_bytes(sheet.replace("|", end).encode(encoding))
    assert read(file) == ROWS


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", r"no column rater \(its columns: \)"),
        (b"name,score\nana,3\n", r"no column rater \(its columns: name, score\); it needs rater"),
        (b"PK\x03\x04\x14\x00\x00binary", "it is no text"),
        (b'rater,remark\nana,"never closed\nben,x\n', "lines 2 to 3: .* all quotations closed"),
        (b'rater,remark\nana,x\nben,"a" b\neve,x\n', "line 3: .* marks within them doubled"),
        (b"rater,remark\rana,x\r", "is it CSV"),
    ],
)
def test_what_is_no_table_is_refused_in_words(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / "sheet.csv"
    file.write_bytes(content)
    with pytest.raises(BadInput, match=complaint):
        read(file)
