from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from core.domain import TargetGroup
from core.errors import KnowledgeBaseError
from kb.extract.sheet import documents_of
from kb.sources.candidates import Candidate, Delivery, Page
from kb.sources.challenge import Format, Kind, Refusal
from kb.sources.shelf import MANIFEST, Shelf

WOMEN, LGBT = TargetGroup.WOMEN, TargetGroup.LGBT


def candidate(name: str = "A/RES/1/1", *groups: TargetGroup, **known: object) -> Candidate:
    return Candidate.model_validate({
        "id": name, "title": f"On\n moons   {name}", "institution": "United Nations", "type": "resolution",
        "symbol": name, "groups": groups or (WOMEN,), "year": 2020, "url": f"https://docs.un.org/en/{name}", **known,
    })  # fmt: skip


def text(content: bytes = b"%PDF-1.7 one %%EOF", part: int = 0) -> Delivery:
    return Delivery(content, Format.PDF, part)


def listed(shelf: Shelf, *candidates: Candidate) -> None:
    shelf.take_in("un", Page(candidates))


def rows(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / MANIFEST).read_text(encoding="utf-8").splitlines()]


def test_keeps_a_document_with_all_its_metadata(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A/RES/80/193", WOMEN, LGBT))
        assert shelf.put(candidate("A/RES/80/193", WOMEN, LGBT), [text()]) == 1
        assert len(rows(tmp_path)) == 1
    (row,) = rows(tmp_path)
    assert list(row) == ["id", "title", "institution", "type", "symbol", "groups", "year", "language", "url", "file",
                         "sha256", "fetched_at"]  # fmt: skip
    assert row["file"] == "united_nations/A_RES_80_193.pdf"
    assert row["title"] == "On moons A/RES/80/193"
    assert (tmp_path / str(row["file"])).read_bytes() == text().content


def test_its_manifest_is_a_sheet_that_kb_add_reads(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        for number, content in enumerate((b"%PDF- 1 %%EOF", b"%PDF- 2 %%EOF")):
            listed(shelf, one := candidate(f"A/RES/1/{number}"))
            shelf.put(one, [text(content)])
    documents = documents_of([tmp_path], tmp_path / MANIFEST)
    assert sorted(document.id for document in documents) == ["A/RES/1/0", "A/RES/1/1"]
    assert documents[0].groups == (WOMEN,)


def test_stores_the_same_content_once(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A"), candidate("B"))
        assert (shelf.put(candidate("A"), [text()]), shelf.put(candidate("B"), [text()])) == (1, 0)
        assert not shelf.is_open(candidate("B"))
        assert [document.id for document in shelf.documents()] == ["A"]


def test_keeps_the_parts_of_a_document_apart(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("32016R0679"))
        shelf.put(candidate("32016R0679"), [text(b"%PDF- 1 %%EOF", 1), text(b"%PDF- 2 %%EOF", 2)])
        assert [document.id for document in shelf.documents()] == ["32016R0679#1", "32016R0679#2"]
        assert {document.symbol for document in shelf.documents()} == {"32016R0679"}


def test_keeps_what_came_of_a_work_in_parts_until_the_whole_is_there(tmp_path: Path) -> None:
    one, two = (text(b"%PDF- 1 %%EOF", 1), text(b"%PDF- 2 %%EOF", 2))
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A"), candidate("B"))
        shelf.parts(candidate("A"))["/1"] = one.content
    with Shelf(tmp_path) as shelf:
        parts = shelf.parts(candidate("A"))
        assert (parts.get("/1"), parts.get("/2")) == (one.content, None)
        assert shelf.parts(candidate("B")).get("/1") is None
        assert list(shelf.documents()) == []
        assert shelf.put(candidate("A"), [one, two]) == 2
        assert parts.get("/1") is None
    assert list((tmp_path / ".part").iterdir()) == []


def test_leaves_no_part_behind_that_is_here_under_another_name(tmp_path: Path) -> None:
    one, two = (text(b"%PDF- 1 %%EOF", 1), text(b"%PDF- 2 %%EOF", 2))
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A"), candidate("B"))
        shelf.put(candidate("B"), [text(one.content)])
        shelf.parts(candidate("A"))["/1"] = one.content
        assert shelf.put(candidate("A"), [one, two]) == 1
    with Shelf(tmp_path):
        assert list((tmp_path / ".part").iterdir()) == []


def test_gives_out_no_part_that_is_torn_or_gone(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A"))
        parts = shelf.parts(candidate("A"))
        parts["/1"] = text().content
        (file,) = (tmp_path / ".part").iterdir()
        file.write_bytes(text().content[:5])
        assert parts.get("/1") is None
        file.unlink()
        assert parts.get("/1") is None


def test_a_document_found_for_another_group_gets_both(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A", WOMEN))
        shelf.put(candidate("A", WOMEN), [text()])
        listed(shelf, candidate("A", LGBT))
        assert not shelf.is_open(candidate("A"))
    assert rows(tmp_path)[0]["groups"] == ["women", "lgbt"]


def test_remembers_bookmarks_and_open_candidates_over_runs(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        shelf.take_in("un", Page((candidate("A"), candidate("B")), {"2020-01": "token", "2020-02": "done"}))
        shelf.put(candidate("A"), [text()])
    with Shelf(tmp_path) as shelf:
        assert shelf.bookmarks("un") == {"2020-01": "token", "2020-02": "done"}
        assert [one.id for one in shelf.open_candidates("un")] == ["B"]
        shelf.take_in("un", Page(bookmarks={"2020-01": None}))
        assert shelf.bookmarks("un") == {"2020-02": "done"}
        assert (shelf.bookmarks("fra"), list(shelf.open_candidates("fra"))) == ({}, [])


def test_does_not_ask_again_for_what_is_refused_for_good_unless_told(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A"), candidate("B"))
        shelf.refuse(candidate("A"), Refusal(Kind.MISSING, "u", "gone"))
        shelf.refuse(candidate("B"), Refusal(Kind.BUSY, "u", "503"))
        assert [one.id for one in shelf.open_candidates("un")] == ["B"]
        shelf.reopen("un")
        assert {one.id for one in shelf.open_candidates("un")} == {"A", "B"}


def test_tries_last_what_failed_most(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A"), candidate("B"), candidate("C", year=2010))
        shelf.refuse(candidate("A"), Refusal(Kind.BUSY, "u", "503"))
        assert [one.id for one in shelf.open_candidates("un")] == ["B", "C", "A"]


def test_finishes_a_move_that_an_interruption_cut_short(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A"))
        shelf.put(candidate("A"), [text()])
        (document,) = shelf.documents()
    (tmp_path / document.file).rename(tmp_path / ".part" / document.sha256)
    (tmp_path / ".part" / "leftover").write_bytes(b"half a download")
    with Shelf(tmp_path) as shelf:
        assert not shelf.is_open(candidate("A"))
        assert (tmp_path / document.file).read_bytes() == text().content
    assert list((tmp_path / ".part").iterdir()) == []


def test_fetches_again_what_somebody_removed(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A"), candidate("B"))
        shelf.put(candidate("A"), [text(b"%PDF- 1 %%EOF", 1), text(b"%PDF- 2 %%EOF", 2)])
        (first, _) = shelf.documents()
    (tmp_path / first.file).unlink()
    with Shelf(tmp_path) as shelf:
        assert shelf.is_open(candidate("A"))
        assert shelf.put(candidate("A"), [text(b"%PDF- 1 %%EOF", 1), text(b"%PDF- 2 %%EOF", 2)]) == 1
    assert len(rows(tmp_path)) == 2


@pytest.mark.parametrize("name", ["../../escape", "/etc/passwd", "..", "a\\b:c*?", "Überblick/ü", "x" * 500])
def test_keeps_every_file_below_its_folder_whatever_a_catalogue_calls_it(tmp_path: Path, name: str) -> None:
    shelf_folder = tmp_path / "shelf"
    with Shelf(shelf_folder) as shelf:
        listed(shelf, candidate(name, institution=f"{name} Agency"))
        shelf.put(candidate(name, institution=f"{name} Agency"), [text()])
        (document,) = shelf.documents()
    assert (shelf_folder / document.file).resolve().is_relative_to(shelf_folder.resolve())
    assert [entry.name for entry in tmp_path.iterdir()] == ["shelf"]


def test_gives_names_that_look_alike_files_of_their_own(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A/1"), candidate("A 1"))
        shelf.put(candidate("A/1"), [text(b"%PDF- 1 %%EOF")])
        shelf.put(candidate("A 1"), [text(b"%PDF- 2 %%EOF")])
        assert len({document.file for document in shelf.documents()}) == 2


def test_refuses_a_foreign_or_torn_file(tmp_path: Path) -> None:
    (tmp_path / "crawl.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        Shelf(tmp_path)


def test_refuses_a_folder_in_which_another_crawl_works(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        listed(shelf, candidate("A"))
        with pytest.raises(KnowledgeBaseError, match="other crawl"):
            Shelf(tmp_path)


def test_a_failed_step_of_a_listing_leaves_nothing_behind(tmp_path: Path) -> None:
    with Shelf(tmp_path) as shelf:
        with pytest.raises(sqlite3.Error):
            shelf.take_in("un", Page((candidate("A"),), {"x": object()}))  # type: ignore[dict-item]
        assert list(shelf.open_candidates("un")) == []
