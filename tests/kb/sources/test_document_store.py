from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from core.domain import TargetGroup
from core.errors import KnowledgeBaseError
from kb.extract.metadata_sheet import documents_of
from kb.sources.document_store import MANIFEST, DocumentStore
from kb.sources.documents import FetchedText, ListedDocument, ListingPage
from kb.sources.validation import Format, Reason, Refusal

WOMEN, LGBT = TargetGroup.WOMEN, TargetGroup.LGBT


def named(name: str = "A/RES/1/1", *groups: TargetGroup, **fields: object) -> ListedDocument:
    return ListedDocument.model_validate({
        "id": name, "title": f"On\n moons   {name}", "institution": "United Nations", "type": "resolution",
        "symbol": name, "groups": groups or (WOMEN,), "year": 2020, "url": f"https://docs.un.org/en/{name}", **fields,
    })  # fmt: skip


def text(content: bytes = b"%PDF-1.7 one %%EOF", part: int = 0) -> FetchedText:
    return FetchedText(content, Format.PDF, part)


def listed(store: DocumentStore, *documents: ListedDocument) -> None:
    store.add_page("un", ListingPage(documents))


def rows(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / MANIFEST).read_text(encoding="utf-8").splitlines()]


def test_keeps_a_document_with_all_its_metadata(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        listed(store, named("A/RES/80/193", WOMEN, LGBT))
        assert store.put(named("A/RES/80/193", WOMEN, LGBT), [text()]) == 1
        assert len(rows(tmp_path)) == 1
    (row,) = rows(tmp_path)
    assert list(row) == ["id", "title", "institution", "type", "symbol", "groups", "year", "language", "url", "file",
                         "sha256", "fetched_at"]  # fmt: skip
    assert row["file"] == "united_nations/A_RES_80_193.pdf"
    assert row["title"] == "On moons A/RES/80/193"
    assert (tmp_path / str(row["file"])).read_bytes() == text().content


def test_its_manifest_is_a_sheet_that_kb_add_reads(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        for number, content in enumerate((b"%PDF- 1 %%EOF", b"%PDF- 2 %%EOF")):
            listed(store, document := named(f"A/RES/1/{number}"))
            store.put(document, [text(content)])
    documents = documents_of([tmp_path], tmp_path / MANIFEST)
    assert sorted(document.id for document in documents) == ["A/RES/1/0", "A/RES/1/1"]
    assert documents[0].groups == (WOMEN,)


def test_stores_the_same_content_once(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        listed(store, named("A"), named("B"))
        assert (store.put(named("A"), [text()]), store.put(named("B"), [text()])) == (1, 0)
        assert not store.is_open(named("B"))
        assert [document.id for document in store.documents()] == ["A"]


def test_keeps_the_parts_of_a_document_apart(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        listed(store, named("32016R0679"))
        store.put(named("32016R0679"), [text(b"%PDF- 1 %%EOF", 1), text(b"%PDF- 2 %%EOF", 2)])
        assert [document.id for document in store.documents()] == ["32016R0679#1", "32016R0679#2"]
        assert {document.symbol for document in store.documents()} == {"32016R0679"}


def test_keeps_what_came_of_a_work_in_parts_until_the_whole_is_there(tmp_path: Path) -> None:
    first, second = (text(b"%PDF- 1 %%EOF", 1), text(b"%PDF- 2 %%EOF", 2))
    with DocumentStore(tmp_path) as store:
        listed(store, named("A"), named("B"))
        store.parts(named("A"))["/1"] = first.content
    with DocumentStore(tmp_path) as store:
        parts = store.parts(named("A"))
        assert (parts.get("/1"), parts.get("/2")) == (first.content, None)
        assert store.parts(named("B")).get("/1") is None
        assert list(store.documents()) == []
        assert store.put(named("A"), [first, second]) == 2
        assert parts.get("/1") is None
    assert list((tmp_path / ".part").iterdir()) == []


def test_leaves_no_part_behind_that_is_here_under_another_name(tmp_path: Path) -> None:
    first, second = (text(b"%PDF- 1 %%EOF", 1), text(b"%PDF- 2 %%EOF", 2))
    with DocumentStore(tmp_path) as store:
        listed(store, named("A"), named("B"))
        store.put(named("B"), [text(first.content)])
        store.parts(named("A"))["/1"] = first.content
        assert store.put(named("A"), [first, second]) == 1
    with DocumentStore(tmp_path):
        assert list((tmp_path / ".part").iterdir()) == []


def test_gives_out_no_part_that_is_torn_or_gone(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        listed(store, named("A"))
        parts = store.parts(named("A"))
        parts["/1"] = text().content
        (file,) = (tmp_path / ".part").iterdir()
        file.write_bytes(text().content[:5])
        assert parts.get("/1") is None
        file.unlink()
        assert parts.get("/1") is None


def test_a_document_found_for_another_group_gets_both(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        listed(store, named("A", WOMEN))
        store.put(named("A", WOMEN), [text()])
        listed(store, named("A", LGBT))
        assert not store.is_open(named("A"))
    assert rows(tmp_path)[0]["groups"] == ["women", "lgbt"]


def test_remembers_bookmarks_and_open_documents_over_runs(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        store.add_page("un", ListingPage((named("A"), named("B")), {"2020-01": "token", "2020-02": "done"}))
        store.put(named("A"), [text()])
    with DocumentStore(tmp_path) as store:
        assert store.bookmarks("un") == {"2020-01": "token", "2020-02": "done"}
        assert [document.id for document in store.open_documents("un")] == ["B"]
        store.add_page("un", ListingPage(bookmarks={"2020-01": None}))
        assert store.bookmarks("un") == {"2020-02": "done"}
        assert (store.bookmarks("fra"), list(store.open_documents("fra"))) == ({}, [])


def test_does_not_ask_again_for_what_is_refused_for_good_unless_told(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        listed(store, named("A"), named("B"))
        store.refuse(named("A"), Refusal(Reason.MISSING, "u", "gone"))
        store.refuse(named("B"), Refusal(Reason.BUSY, "u", "503"))
        assert [document.id for document in store.open_documents("un")] == ["B"]
        store.reopen("un")
        assert {document.id for document in store.open_documents("un")} == {"A", "B"}


def test_tries_last_what_failed_most(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        listed(store, named("A"), named("B"), named("C", year=2010))
        store.refuse(named("A"), Refusal(Reason.BUSY, "u", "503"))
        assert [document.id for document in store.open_documents("un")] == ["B", "C", "A"]


def test_finishes_a_move_that_an_interruption_cut_short(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        listed(store, named("A"))
        store.put(named("A"), [text()])
        (document,) = store.documents()
    (tmp_path / document.file).rename(tmp_path / ".part" / document.sha256)
    (tmp_path / ".part" / "leftover").write_bytes(b"half a download")
    with DocumentStore(tmp_path) as store:
        assert not store.is_open(named("A"))
        assert (tmp_path / document.file).read_bytes() == text().content
    assert list((tmp_path / ".part").iterdir()) == []


def test_fetches_again_what_somebody_removed(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        listed(store, named("A"), named("B"))
        store.put(named("A"), [text(b"%PDF- 1 %%EOF", 1), text(b"%PDF- 2 %%EOF", 2)])
        (first, _) = store.documents()
    (tmp_path / first.file).unlink()
    with DocumentStore(tmp_path) as store:
        assert store.is_open(named("A"))
        assert store.put(named("A"), [text(b"%PDF- 1 %%EOF", 1), text(b"%PDF- 2 %%EOF", 2)]) == 1
    assert len(rows(tmp_path)) == 2


@pytest.mark.parametrize("name", ["../../escape", "/etc/passwd", "..", "a\\b:c*?", "Überblick/ü", "x" * 500])
def test_keeps_every_file_below_its_folder_whatever_a_catalogue_calls_it(tmp_path: Path, name: str) -> None:
    store_folder = tmp_path / "store"
    with DocumentStore(store_folder) as store:
        listed(store, named(name, institution=f"{name} Agency"))
        store.put(named(name, institution=f"{name} Agency"), [text()])
        (document,) = store.documents()
    assert (store_folder / document.file).resolve().is_relative_to(store_folder.resolve())
    assert [entry.name for entry in tmp_path.iterdir()] == ["store"]


def test_gives_names_that_look_alike_files_of_their_own(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        listed(store, named("A/1"), named("A 1"))
        store.put(named("A/1"), [text(b"%PDF- 1 %%EOF")])
        store.put(named("A 1"), [text(b"%PDF- 2 %%EOF")])
        assert len({document.file for document in store.documents()}) == 2


def test_refuses_a_foreign_or_torn_file(tmp_path: Path) -> None:
    (tmp_path / "crawl.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        DocumentStore(tmp_path)


def test_refuses_a_folder_in_which_another_crawl_works(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        listed(store, named("A"))
        with pytest.raises(KnowledgeBaseError, match="other crawl"):
            DocumentStore(tmp_path)


def test_a_failed_step_of_a_listing_leaves_nothing_behind(tmp_path: Path) -> None:
    with DocumentStore(tmp_path) as store:
        with pytest.raises(sqlite3.Error):
            store.add_page("un", ListingPage((named("A"),), {"x": object()}))  # type: ignore[dict-item]
        assert list(store.open_documents("un")) == []
