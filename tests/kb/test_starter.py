from __future__ import annotations

from pathlib import Path

import pytest

from core.domain import TargetGroup
from core.errors import KnowledgeBaseError
from kb.starter import fingerprint, load_starter, load_statements

GOOD = """
[[statement]]
id = "other-moon-1"
text = "Zorblaxians may live on any moon."
answers = ["they ruin everything"]
groups = ["other"]
institution = "United Nations"
title = "On moons"
symbol = "A/RES/1/1"
locator = "Article 1"
year = 1999
url = "https://docs.un.org/en/A/RES/1/1"
document = "moons.md"
terms = ["any moon"]
"""


def _file(folder: Path, text: str, name: str = "other.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_statements_become_evidence_with_source_and_answers() -> None:
    statements = load_starter()
    evidence = statements[0].evidence()
    assert evidence.id == statements[0].id
    assert evidence.answers == statements[0].answers
    assert evidence.source.locator == statements[0].locator
    assert {group for statement in statements for group in statement.groups} == set(TargetGroup)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('groups = ["other"]', 'groups = ["martians"]', "groups"),
        ("year = 1999", 'year = "soon"', "year"),
        ("https://docs", "http://docs", "url"),
        ('answers = ["they ruin everything"]', "answers = []", "answers"),
        ('title = "On moons"', "", "title"),
        ("year = 1999", "year = 1999\ncolour = 3", "colour"),
        ('text = "Zor', 'text = " Zor', "text"),
    ],
)
def test_a_bad_field_is_named_with_file_and_statement(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    with pytest.raises(KnowledgeBaseError, match=rf"other\.toml: statement 'other-moon-1', {complaint}"):
        load_statements([_file(tmp_path, GOOD.replace(old, new))])


def test_a_statement_without_id_is_named_by_its_place(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match="'number 2', id: is missing"):
        load_statements([_file(tmp_path, GOOD + GOOD.replace('id = "other-moon-1"', ""))])


@pytest.mark.parametrize("text", ["[[statement]\n", "", "statement = 3\n", "statement = [3]\n"])
def test_a_file_that_is_no_list_of_statements_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(KnowledgeBaseError, match=r"other\.toml"):
        load_statements([_file(tmp_path, text)])


def test_an_id_used_twice_names_both_files(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match=r"other-moon-1.*a\.toml.*b\.toml"):
        load_statements([_file(tmp_path, GOOD, "a.toml"), _file(tmp_path, GOOD, "b.toml")])


def test_the_fingerprint_follows_every_word(tmp_path: Path) -> None:
    original = [s.evidence() for s in load_statements([_file(tmp_path, GOOD)])]
    edited = [s.evidence() for s in load_statements([_file(tmp_path, GOOD.replace("ruin everything", "ruin things"))])]
    assert fingerprint(original) == fingerprint(list(original))
    assert fingerprint(original) != fingerprint(edited)
