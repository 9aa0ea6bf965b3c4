from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from kb.extract import GroupTerms, Harvest
from rejoinder.commands.kb_add import add

SHEET = """file,title,institution,symbol,year,url,groups,language
good.md,On harbours,Union of Zorblax,Z/1,2020,https://example.org/z1,migrants,en
torn.pdf,On boats,Union of Zorblax,Z/2,2021,https://example.org/z2,migrants,en
"""
GOOD = "# Harbours\n\nThe council found that whoever arrives by boat works as hard as anybody else in the yards.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terms: GroupTerms) -> Path:
    monkeypatch.setattr(GroupTerms, "load", lambda: terms)
    (tmp_path / "good.md").write_text(GOOD)
    (tmp_path / "torn.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    (tmp_path / "sheet.csv").write_text(SHEET)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_takes_in_what_can_be_read_and_names_the_rest(folder: Path) -> None:
    result = CliRunner().invoke(add, ["good.md", "torn.pdf", "--metadata", "sheet.csv", "--harvest", "h"])
    assert result.exit_code == 0, result.output
    assert "2 documents (0 unchanged, 0 repeated, 1 failed)" in result.output
    assert "FAILED  Z/2: The PDF is torn" in result.output
    with Harvest(folder / "h") as harvest:
        (evidence,) = harvest.evidence()
    assert (evidence.source.symbol, evidence.source.locator) == ("Z/1", "“Harbours”")


def test_fails_when_nothing_could_be_read(folder: Path) -> None:
    result = CliRunner().invoke(add, ["torn.pdf", "--metadata", "sheet.csv", "--harvest", "h"])
    assert result.exit_code == 1
