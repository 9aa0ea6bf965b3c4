from __future__ import annotations

from pathlib import Path

import pytest

from core.domain import TargetGroup
from core.errors import BadInput
from kb.extract.metadata_sheet import documents_of

CSV = "file;title;institution;symbol;year;url;groups;language\nx.txt;On harbours;Zorblax;Z/1;2020;;women, migrants;en\n"
TOML = '[[document]]\nfile = "docs/x.txt"\ntitle = "On harbours"\ninstitution = "Zorblax"\nyear = 2020\n'


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    file = tmp_path / "docs" / "x.txt"
    file.write_text("The harbours are open.")
    return file


def test_pairs_a_file_with_its_row_by_bare_name(text: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(CSV)
    (document,) = documents_of([text], sheet)
    assert (document.id, document.file, document.year, document.url) == ("Z/1", text.resolve(), 2020, "")
    assert document.groups == (TargetGroup.WOMEN, TargetGroup.MIGRANTS)


def test_a_cell_of_several_lines_is_one_line(text: Path, tmp_path: Path) -> None:
    (text.parent / "two  spaces.txt").write_text("More.")
    sheet = tmp_path / "sheet.csv"
    sheet.write_bytes(
        b'file,title,institution,symbol,year\r\nx.txt,"On\nharbours, and\r\n boats",Union  of Zorblax ,Z/1,2020\r\n'
        b"two  spaces.txt,On lights,Zorblax,Z/2,2021\r\n"
    )
    lights, boats = documents_of([text.parent], sheet)
    assert (boats.title, boats.institution) == ("On harbours, and boats", "Union of Zorblax")
    assert lights.file.name == "two  spaces.txt"


def test_pairs_a_folder_with_a_toml_sheet_and_names_by_title(text: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.toml"
    sheet.write_text(TOML)
    (text.parent / "picture.png").write_bytes(b"x")
    (document,) = documents_of([text.parent], sheet)
    assert (document.id, document.symbol) == ("On harbours", "On harbours")


def test_a_file_without_a_row_is_refused(text: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(CSV)
    (text.parent / "y.txt").write_text("More.")
    with pytest.raises(BadInput, match=r"no row for y\.txt"):
        documents_of([text.parent], sheet)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("s.csv", CSV.replace("2020", "soon"), "row 1, year: "),
        ("s.csv", CSV.replace("women, migrants", "wizards"), "groups"),
        ("s.csv", CSV + "y.txt;Other;Zorblax;Z/1;2021;;;\n", "are both 'Z/1'"),
        ("s.csv", "", "no rows"),
        ("s.json", "[{", "torn"),
        ("s.toml", "[[document]\n", "torn"),
        ("s.ods", "x", "Save it as one of these"),
    ],
)
def test_says_what_is_wrong_with_a_sheet(text: Path, tmp_path: Path, name: str, content: str, complaint: str) -> None:
    sheet = tmp_path / name
    sheet.write_text(content)
    with pytest.raises(BadInput, match=complaint):
        documents_of([text], sheet)
