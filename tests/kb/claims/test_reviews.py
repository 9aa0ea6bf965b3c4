from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import KnowledgeBaseError
from kb.claims.reviews import FILE, Reviews, load_reviews, write_reviews


def test_a_sentence_is_provisional_until_a_speaker_has_read_it_and_again_when_it_changes(tmp_path: Path) -> None:
    reviews = Reviews().with_read([("Todas valen lo mismo.", "es")])
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / FILE).write_text(write_reviews(reviews), encoding="utf-8")
    again = load_reviews(tmp_path)
    assert again == reviews
    assert not again.provisional("Todas valen lo mismo.", "es")
    assert again.provisional("Todas valen igual.", "es")
    assert again.provisional("Todas valen lo mismo.", "it")


def test_english_is_written_and_needs_no_speaker() -> None:
    assert not Reviews().provisional("All count the same.", "en")


def test_without_a_file_nothing_is_reviewed_and_a_torn_one_is_an_error(tmp_path: Path) -> None:
    assert load_reviews(tmp_path) == Reviews()
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(KnowledgeBaseError, match="Restore it"):
        load_reviews(tmp_path)
