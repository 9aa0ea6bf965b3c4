from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core.domain import Evidence, TargetGroup
from core.errors import KnowledgeBaseError
from kb.store import FILE, Holding, ParagraphStore, holdings


@pytest.fixture
def store(tmp_path: Path, statements: list[Evidence]) -> Iterator[ParagraphStore]:
    with closing(ParagraphStore.create(tmp_path)) as new:
        new.add(statements)
    with closing(ParagraphStore.open(tmp_path)) as opened:
        yield opened


def test_paragraphs_come_back_whole_and_in_order(store: ParagraphStore, statements: list[Evidence]) -> None:
    assert store.get([4, 0]) == [statements[4], statements[0]]
    assert store.get([]) == []
    assert store.count() == len(statements)


def test_a_number_that_is_not_there_is_an_error(store: ParagraphStore) -> None:
    with pytest.raises(KnowledgeBaseError, match="no paragraph number 99"):
        store.get([0, 99])


def test_members_are_the_paragraphs_of_a_group(store: ParagraphStore) -> None:
    assert store.members(TargetGroup.WOMEN).tolist() == [1, 2, 3]
    assert store.members(TargetGroup.LGBT).tolist() == []


def test_stats_count_documents_and_paragraphs_by_institution_and_group(store: ParagraphStore) -> None:
    women = Holding("United Nations", TargetGroup.WOMEN, documents=2, paragraphs=3, words=25 / 3)
    assert women in holdings(store.document_counts())
    assert women not in holdings(store.document_counts(without=[1]))


def test_paragraphs_are_found_by_id_and_by_text(store: ParagraphStore, statements: list[Evidence]) -> None:
    assert store.find(["vote", "moon", "gone"]) == {"vote": 2, "moon": 0}
    assert store.find_texts([statements[3].text, "No such text."]) == {"work": 3}


def test_adding_goes_on_with_the_next_number(tmp_path: Path, evidence: Callable[..., Evidence]) -> None:
    with closing(ParagraphStore.create(tmp_path)) as store:
        store.add([evidence("a", "One moon.")])
        store.add([evidence("b", "Two moons.")])
        assert [paragraph.id for paragraph in store.get([0, 1])] == ["a", "b"]


@pytest.mark.parametrize(("name", "text"), [("a", "Other text."), ("b", "One moon.")])
def test_a_repeated_id_or_text_is_refused_and_nothing_is_added(
    tmp_path: Path, evidence: Callable[..., Evidence], name: str, text: str
) -> None:
    with closing(ParagraphStore.create(tmp_path)) as store:
        store.add([evidence("a", "One moon.")])
        with pytest.raises(KnowledgeBaseError, match="repeats"):
            store.add([evidence("c", "Three moons."), evidence(name, text)])
        assert store.count() == 1


def test_a_store_is_not_made_over_another(tmp_path: Path, store: ParagraphStore) -> None:
    with pytest.raises(KnowledgeBaseError, match="there already"):
        ParagraphStore.create(tmp_path)


def test_an_opened_store_is_read_only(store: ParagraphStore, evidence: Callable[..., Evidence]) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        store.add([evidence("z", "Zero moons.")])


def test_a_missing_store_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match="Build it first"):
        ParagraphStore.open(tmp_path)


def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as foreign:
        foreign.execute("CREATE TABLE stamps (id)")
    with pytest.raises(KnowledgeBaseError, match="not a paragraph store"):
        ParagraphStore.open(tmp_path)


def test_a_torn_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database at all, by any means" * 99)
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        ParagraphStore.open(tmp_path)
