from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kb.words import FOLDER, WordIndex
from rejoinder.errors import KnowledgeBaseError

TEXTS = ["Women vote in every election.", "The moon is far from the women.", "Pay taxes on the moon moon."]


@pytest.fixture
def index() -> WordIndex:
    return WordIndex.build(TEXTS, ["en"])


def test_texts_that_share_words_come_best_first(index: WordIndex) -> None:
    assert index.search("taxes on the MOON", 5) == [2, 1]
    assert index.search("taxes on the moon", 1) == [2]


@pytest.mark.parametrize("query", ["", "   ", "the and is", "zorblax", "!?", "a\nb"])
def test_a_query_without_known_words_finds_nothing(index: WordIndex, query: str) -> None:
    assert index.search(query, 5) == []


def test_only_allowed_texts_come(index: WordIndex) -> None:
    assert index.search("moon", 5, np.array([True, True, False])) == [1]


def test_stop_words_follow_the_languages() -> None:
    assert WordIndex.build(["la luna e il sole", "casa"], ["it"]).search("la", 5) == []
    assert WordIndex.build(["la luna e il sole", "casa"], ["eu"]).search("la", 5) == [0]


def test_a_saved_index_finds_the_same(index: WordIndex, tmp_path: Path) -> None:
    index.save(tmp_path)
    assert WordIndex.load(tmp_path).search("the moon", 5) == index.search("the moon", 5)


def test_building_and_loading_say_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    WordIndex.build(TEXTS, ["en"]).save(tmp_path)
    WordIndex.load(tmp_path).search("moon", 1)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["languages.json", "params.index.json", "vocab.index.json", "data.csc.index.npy"])
def test_a_torn_file_is_an_error(index: WordIndex, tmp_path: Path, name: str) -> None:
    index.save(tmp_path)
    (tmp_path / FOLDER / name).write_bytes(b"{torn")
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        WordIndex.load(tmp_path)


def test_a_missing_index_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        WordIndex.load(tmp_path)
