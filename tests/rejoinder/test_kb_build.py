"""`rejoinder kb build`."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from kb.query import Vectors
from kb.starter import load_starter
from models import embedders
from rejoinder.cli import main
from rejoinder.commands.extras import needs_extra

SHEET = """file,title,institution,symbol,year,url,groups,language
good.md,On harbours,Union of Zorblax,Z/1,2020,https://example.org/z1,migrants,en
"""
URL = "https://docs.un.org/en"
GOOD = "# Harbours\n\nThe council found that whoever arrives by boat works as hard as anybody else in the yards.\n"


class LengthEmbedder:
    """An embedder that is quick and senseless, and counts the texts."""

    name, dimension = "length", 8
    embedded = 0

    async def queries(self, texts: Sequence[str]) -> Vectors:
        return np.stack([np.random.default_rng(len(text)).random(8, np.float32) for text in texts])

    async def passages(self, texts: Sequence[str]) -> Vectors:
        LengthEmbedder.embedded += len(texts)
        return await self.queries(texts)

    async def close(self) -> None:
        return


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("REJOINDER_KB__FOLDER", str(tmp_path / "kb"))
    monkeypatch.setattr(embedders, "open_embedder", lambda settings: LengthEmbedder())
    monkeypatch.setenv("REJOINDER_KB__MIN_RELEVANCE", "0")
    monkeypatch.setattr(LengthEmbedder, "embedded", 0)
    (tmp_path / "good.md").write_text(GOOD)
    (tmp_path / "sheet.csv").write_text(SHEET)
    return tmp_path


def _rejoinder(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["kb", *arguments])


def test_one_command_takes_files_in_and_makes_them_searchable(folder: Path) -> None:
    built = _rejoinder("build", "good.md", "--metadata", "sheet.csv", "--no-starter")
    assert built.exit_code == 0, built.output
    assert "1 paragraphs are searchable" in built.output and "1 put, 0 removed, 0 kept" in built.output
    searched = _rejoinder("search", "whoever comes by boat is lazy", "--json")
    assert '"Z/1"' in searched.output


def test_a_second_build_embeds_only_what_changed(folder: Path) -> None:
    _rejoinder("add", "good.md", "--metadata", "sheet.csv")
    assert _rejoinder("build", "--no-starter").exit_code == 0
    assert LengthEmbedder.embedded == 1
    assert "0 put, 0 removed, 1 kept" in _rejoinder("build", "--no-starter").output
    assert LengthEmbedder.embedded == 1
    with_starter = _rejoinder("build")
    assert "1 kept" in with_starter.output and LengthEmbedder.embedded > 100


def test_a_text_that_a_starter_statement_has_too_stops_nothing(folder: Path) -> None:
    repeated = load_starter()[0]
    (folder / "good.md").write_text(f"# Harbours\n\n{repeated.text}\n")
    built = _rejoinder("build", "good.md", "--metadata", "sheet.csv")
    assert built.exit_code == 0, built.output
    assert f"1 skipped, because another has the same text, such as Z/1#harbours (see {repeated.id})" in built.output
    assert _rejoinder("build").exit_code == 0


def test_a_removed_document_leaves_the_knowledge_base_with_the_next_build(folder: Path) -> None:
    (folder / "other.md").write_text(
        "# Boats\n\nThe council counted four hundred boats, and none of them was in the way.\n"
    )
    (folder / "sheet.csv").write_text(f"{SHEET}other.md,On boats,Union of Zorblax,Z/2,2021,,migrants,en\n")
    _rejoinder("build", "good.md", "other.md", "--metadata", "sheet.csv", "--no-starter")
    removed = _rejoinder("remove", "Z/1")
    assert removed.exit_code == 0, removed.output
    assert "1 documents with 1 paragraphs" in removed.output and "rejoinder kb build" in removed.output
    assert "0 put, 1 removed, 1 kept" in _rejoinder("build", "--no-starter").output
    evidence = json.loads(_rejoinder("search", "whoever comes by boat is lazy", "--json").stdout)
    assert [item["source"]["symbol"] for item in evidence] == ["Z/2"]


def test_removing_an_unknown_document_names_it(folder: Path) -> None:
    _rejoinder("add", "good.md", "--metadata", "sheet.csv")
    refused = _rejoinder("remove", "Z/1", "Z/9")
    assert refused.exit_code == 1
    assert "no document 'Z/9'" in refused.output and "'Z/1'" not in refused.output


def test_a_mistyped_harvest_does_not_empty_the_knowledge_base(folder: Path) -> None:
    _rejoinder("build", "good.md", "--metadata", "sheet.csv", "--harvest", "mine", "--no-starter")
    more = ["good.md", "--metadata", "sheet.csv"]
    for wrong in (["--harvest", "mien"], [], [*more, "--harvest", "mien"], more):
        refused = _rejoinder("build", *wrong)
        assert refused.exit_code == 1
        assert "no harvest in" in refused.output and "Name the folder that `rejoinder kb add` wrote" in refused.output
    assert "such as Z/1#harbours" in refused.output
    assert not (folder / "mien").exists() and not (folder / "data" / "harvest").exists()
    assert "0 put, 0 removed, 1 kept" in _rejoinder("build", "--harvest", "mine", "--no-starter").output


def test_documents_that_a_folder_of_another_version_may_hold_are_not_lost(folder: Path) -> None:
    _rejoinder("build", "good.md", "--metadata", "sheet.csv", "--harvest", "mine", "--no-starter")
    (manifest,) = (folder / "kb").glob("*/manifest.json")
    manifest.write_text(re.sub(r'"format": *\d+', '"format": 0', manifest.read_text()))
    refused = _rejoinder("build")
    assert refused.exit_code == 1
    assert "may hold paragraphs of documents" in refused.output and "has format 0" in refused.output
    assert "--harvest" in refused.output and "delete" in refused.output
    assert "1 put" in _rejoinder("build", "--harvest", "mine", "--no-starter").output


def test_the_starter_alone_needs_no_harvest_and_begins_none(folder: Path) -> None:
    for counts in (f"{len(load_starter())} put, 0 removed, 0 kept", f"0 put, 0 removed, {len(load_starter())} kept"):
        built = _rejoinder("build")
        assert built.exit_code == 0 and counts in built.output
    assert not (folder / "data" / "harvest").exists()


def test_files_may_begin_a_harvest_in_a_folder_that_is_named(folder: Path) -> None:
    built = _rejoinder("build", "good.md", "--metadata", "sheet.csv", "--harvest", "mine", "--no-starter")
    assert built.exit_code == 0 and "1 put" in built.output


@pytest.mark.parametrize("wrong", [["--harvest", "mien"], []])
def test_removing_from_a_harvest_that_is_not_there_begins_none(folder: Path, wrong: list[str]) -> None:
    refused = _rejoinder("remove", "Z/1", *wrong)
    assert refused.exit_code == 1 and "no harvest in" in refused.output and "--harvest" in refused.output
    assert not (folder / "mien").exists() and not (folder / "data" / "harvest").exists()


@pytest.mark.parametrize(
    ("arguments", "package"),
    [
        (["add", "good.md", "--metadata", "sheet.csv"], "pebble"),
        (["add", "good.md", "--metadata", "sheet.csv"], "trafilatura"),
        (["add", "good.md", "--metadata", "sheet.csv"], "markdown_it"),
        (["build", "--no-starter"], "datasketch"),
        (["remove", "Z/1"], "pebble"),
    ],
)
def test_without_the_extra_the_error_says_how_to_get_it(folder: Path, arguments: list[str], package: str) -> None:
    """In a process of its own, in which nothing is imported yet."""
    (folder / "absent").mkdir()
    (folder / "absent" / f"{package}.py").write_text(f"raise ModuleNotFoundError('absent', name={package!r})")
    ended = subprocess.run(
        [sys.executable, "-m", "rejoinder.cli", "kb", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "absent"), str(Path(__file__).parents[2])])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert f"needs the package {package}" in ended.stderr and "pip install 'rejoinder[kb]'" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_module_of_ours_that_is_missing_is_no_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError), needs_extra("kb"):
        importlib.import_module("kb.nonesuch")


def test_files_need_their_sheet(folder: Path) -> None:
    refused = _rejoinder("build", "good.md")
    assert refused.exit_code == 2 and "--metadata" in refused.output
    assert _rejoinder("build", "--metadata", "sheet.csv").exit_code == 2


def test_nothing_to_build_from_is_an_error(folder: Path) -> None:
    nothing = _rejoinder("build", "--no-starter")
    assert nothing.exit_code == 1 and "no statement to build" in nothing.output


@pytest.mark.parametrize(
    ("of_each_kind", "paragraphs"), [(1, 100), pytest.param(1_000, 3_000, marks=pytest.mark.slow)], ids=["few", "every"]
)
def test_one_command_builds_from_every_document_at_hand(folder: Path, of_each_kind: int, paragraphs: int) -> None:
    """The General Assembly's PDFs, EU law and the instruments."""
    shared = Path(__file__).parents[2] / "../shared/kb"
    if not shared.is_dir():
        pytest.skip("the source documents (../shared/kb) are not beside this checkout")
    kinds = ("un_docs/pdf/*.pdf", "eurlex/cellar_xhtml/*html",
             "instruments/*/*.json", "instruments/*/*.en.md", "instruments/udhr/*.html")  # fmt: skip
    files = [file for kind in kinds for file in sorted(shared.glob(kind))[:of_each_kind]]
    rows = [
        {"file": str(file), "title": file.stem, "institution": "A", "symbol": file.name, "year": 2000, "url": URL,
         "groups": [], "language": "en"}
        for file in files
    ]  # fmt: skip
    (folder / "sheet.json").write_text(json.dumps(rows))
    built = _rejoinder("build", *map(str, files), "--metadata", "sheet.json", "--no-starter")
    assert built.exit_code == 0, built.output
    assert f"{len(files)} documents (0 unchanged, 0 repeated, 0 failed)" in built.output
    assert sum(row["paragraphs"] for row in json.loads(_rejoinder("stats", "--json").output)) > paragraphs
