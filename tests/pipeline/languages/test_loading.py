from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import BadSettings
from pipeline.languages import DEFAULT, has_pack, pack, packs
from pipeline.languages.loading import read

SPANISH = Path(__file__).parents[3] / "pipeline/languages/es.toml"


def changed(folder: Path, old: str, new: str) -> Path:
    text = SPANISH.read_text(encoding="utf-8")
    assert old in text
    file = folder / "es.toml"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    return file


def test_packs_are_read_once() -> None:
    assert packs() is packs()


def test_where_there_is_no_pack_the_default_stands_in() -> None:
    assert pack("pt") is pack(DEFAULT)
    assert (has_pack("pt"), has_pack("eu")) == (False, True)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('name = "Spanish"', 'name = "Spanish"\nfavourite = "paella"', "favourite"),
        ('stemmer = "spanish"', "", "stemmer"),
        ('level = "provisional"', 'level = "rather good"', "level"),
        ('predicate = "after"', 'predicate = "somewhere"', "order.predicate"),
        ('conjunctions = ["pero", "porque"]', 'conjunctions = ["(pero"]', "conjunctions"),
        ('conjunctions = ["pero", "porque"]', "conjunctions = []", "conjunctions"),
        ("violence = [\n", "violence = [\n    '(abierto',\n", "escalation"),
        ("[templates.positive]", "[templates.negative]", "templates.negative"),
    ],
)
def test_a_wrong_field_is_named_with_its_file(tmp_path: Path, old: str, new: str, field: str) -> None:
    with pytest.raises(BadSettings, match=rf"es\.toml: {field}"):
        read(changed(tmp_path, old, new))


def test_a_torn_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"es\.toml is not readable TOML"):
        read(changed(tmp_path, 'name = "Spanish"', 'name = "Spanish'))
