from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from core.errors import KnowledgeBaseError
from kb import postings
from kb.query import Query
from kb.words import FOLDER, WordIndex, WordWriter

TEXTS = ["Women vote in every election.", "The moon is far from the women.", "Pay taxes on the moon moon."]
Make = Callable[..., WordIndex]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def build(texts: Sequence[str], language: str = "en", *, pieces: bool = False, folder: str = "kb") -> WordIndex:
        writer = WordWriter(tmp_path / folder, pieces=pieces)
        for text in texts:
            writer.add(text, language)
        writer.finish()
        return WordIndex.load(tmp_path / folder)

    return build


def _found(index: WordIndex, text: str, depth: int = 5, allowed: Sequence[bool] | None = None) -> list[int]:
    mask = None if allowed is None else np.array(allowed)
    return [hit.number for hit in index.retrieve(Query(text), depth, mask)]


def test_texts_that_share_words_come_best_first(make: Make) -> None:
    index = make(TEXTS)
    assert _found(index, "taxes on the MOON") == [2, 1]
    assert _found(index, "taxes on the moon", 1) == [2]


@pytest.mark.parametrize("query", ["", "   ", "the and is", "zorblax", "!?", "a\nb"])
@pytest.mark.parametrize("pieces", [True, False])
def test_a_query_without_known_words_finds_nothing(make: Make, query: str, pieces: bool) -> None:
    assert _found(make(TEXTS, pieces=pieces), query) == []


def test_only_allowed_texts_come(make: Make) -> None:
    assert _found(make(TEXTS), "moon", allowed=[True, True, False]) == [1]


def test_stop_words_follow_the_language_of_the_text(make: Make) -> None:
    assert _found(make(["la luna e il sole", "casa"], "it"), "sole la") == [0]
    english = make(["come closer", "go away"], "en", folder="other")
    assert _found(english, "closer") == [0]


def test_pieces_find_other_forms_and_kindred_words_of_another_language(make: Make) -> None:
    texts = ["They discriminate against Zorblaxians.", "The weather is fine."]
    assert _found(make(texts, pieces=True), "discriminación") == [0]
    assert _found(make(texts, folder="words"), "discriminación") == []


def test_scores_are_those_of_a_library(make: Make) -> None:
    import bm25s

    texts = ["moon tax moon", "tax treaty school child", "school moon", "river"]
    reference = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    reference.index([re.findall(r"\w+", text) for text in texts], show_progress=False)
    expected = reference.get_scores(["moon", "school"])
    hits = make(texts, "xx").retrieve(Query("school moon"), 5)
    assert {hit.number: pytest.approx(hit.score, rel=2e-3) for hit in hits} == {
        number: score for number, score in enumerate(expected.tolist()) if score
    }


def test_shards_are_searched_as_one(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"moon number{n} filler words" for n in range(7)]
    monkeypatch.setattr(postings, "SHARD", 3)
    index = make(texts)
    assert _found(index, "number5") == [5]
    assert sorted(_found(index, "moon", 7)) == list(range(7))
    assert _found(index, "moon", 7, [n == 6 for n in range(7)]) == [6]


def test_the_commonest_words_are_not_read_beyond_the_limit(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    index = make([f"moon number{n}" for n in range(50)])
    monkeypatch.setattr(postings, "READ_MOST", 10)
    assert _found(index, "moon number7", 50) == [7]
    assert len(_found(index, "moon", 50)) == 10, "a query of one common word still finds some"


def test_building_and_loading_say_nothing(make: Make, capfd: pytest.CaptureFixture[str]) -> None:
    make(TEXTS).retrieve(Query("moon"), 1)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["facts.json", "0/tokens.npy", "0/starts.npy", "0/texts.npy", "0/weights.npy"])
@pytest.mark.parametrize("content", [b"", b"{torn"])
def test_a_torn_file_is_an_error(make: Make, tmp_path: Path, name: str, content: bytes) -> None:
    make(TEXTS)
    (tmp_path / "kb" / FOLDER / name).write_bytes(content)
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        WordIndex.load(tmp_path / "kb")


def test_arrays_that_contradict_each_other_are_told(make: Make, tmp_path: Path) -> None:
    make(TEXTS)
    np.save(tmp_path / "kb" / FOLDER / "0" / "texts.npy", np.zeros(3, np.int32))
    with pytest.raises(KnowledgeBaseError, match="contradict"):
        WordIndex.load(tmp_path / "kb")


def test_a_missing_index_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        WordIndex.load(tmp_path)


def test_facts_of_something_else_are_an_error(make: Make, tmp_path: Path) -> None:
    make(TEXTS)
    (tmp_path / "kb" / FOLDER / "facts.json").write_text('{"counts": [3]}')
    with pytest.raises(KnowledgeBaseError, match="facts are missing"):
        WordIndex.load(tmp_path / "kb")
