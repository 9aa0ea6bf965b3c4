from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from core.domain import TargetGroup
from core.errors import KnowledgeBaseError
from kb.sources import Keywords
from kb.sources.eurlex import _CELEX
from kb.sources.eurlex import type_of as type_of_act

LISTS = {"terms", "synonyms", "instruments", "un_subjects", "eurovoc", "fra_themes", "celex"}


def test_has_every_list_for_every_group_and_no_other() -> None:
    data = tomllib.loads((files("kb") / "keywords.toml").read_text(encoding="utf-8"))
    assert set(data) == {group.value for group in TargetGroup}
    for group, lists in data.items():
        assert set(lists) == LISTS, group
        for name, words in lists.items():
            assert words, f"{group}.{name}"
            assert len(set(words)) == len(words), f"{group}.{name} repeats a word"
            assert all(word == word.strip() and '"' not in word for word in words)


def test_names_only_celex_numbers_of_known_types(keywords: Keywords) -> None:
    named = {celex for words in keywords.groups.values() for celex in words.celex}
    assert [celex for celex in named if not _CELEX.fullmatch(celex) or type_of_act(celex) == "other"] == []


@pytest.mark.parametrize(
    ("subject", "group"),
    [("WOMEN'S RIGHTS", "women"), ("RACIAL DISCRIMINATION--ELIMINATION", "people_of_colour"),
     ("DISABILITY", "disabled"), ("migrant workers", "migrants"), ("ISLAMOPHOBIA", "muslims"),
     ("ANTI-SEMITISM", "jews"), ("SEXUAL ORIENTATION", "lgbt"), ("MINORITIES", "other")],
)  # fmt: skip
def test_knows_groups_by_their_headings(keywords: Keywords, subject: str, group: str) -> None:
    assert keywords.by_subjects(["HUMAN RIGHTS ADVANCEMENT", subject]) == (TargetGroup(group),)


@pytest.mark.parametrize("subject", ["ISLAMIC REPUBLIC OF IRAN", "ROMANIA", "BUDGET", "NATIONAL INSTITUTIONS"])
def test_takes_no_heading_for_a_group_that_only_begins_like_one(keywords: Keywords, subject: str) -> None:
    assert keywords.by_subjects([subject]) == ()


def test_falls_back_to_the_title_where_headings_say_nothing(keywords: Keywords) -> None:
    assert keywords.by_subjects(["HUMAN RIGHTS"], "Rights of persons with disabilities") == (TargetGroup.DISABLED,)


def test_knows_the_subject_of_every_recorded_resolution(keywords: Keywords, shared: Path) -> None:
    titles = {"A_RES_78_217": "migrants", "A_RES_78_264": "muslims", "A_RES_79_149": "disabled", "A_RES_79_154":
              "women", "A_RES_80_191": "other", "A_RES_80_193": "people_of_colour"}  # fmt: skip
    for name, group in titles.items():
        text = (shared / f"un_docs/extracted_json/{name}.json").read_text(encoding="utf-8")
        assert keywords.by_subjects([], text)[0] == TargetGroup(group), name


def test_themes_and_title_make_the_groups_of_a_publication(keywords: Keywords) -> None:
    assert keywords.by_themes(["roma"], "Being Muslim in the EU") == (TargetGroup.MUSLIMS, TargetGroup.OTHER)
    assert keywords.by_themes([], "A survey", "refugees, refugees and women") == (TargetGroup.MIGRANTS,)
    assert keywords.by_themes([], "A survey") == ()


@pytest.mark.parametrize("content", ["", "[women", "[women]\nterms = 5", b"\xff\xfe"])
def test_refuses_keywords_that_are_torn_or_incomplete(tmp_path: Path, content: str | bytes) -> None:
    file = tmp_path / "keywords.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(KnowledgeBaseError, match="keywords of the target groups"):
        Keywords.load(file)
