from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kb.vectors import FILE, OWNERS, VectorIndex, Vectors
from rejoinder.errors import KnowledgeBaseError

EAST, NORTH, UP = np.eye(3, dtype=np.float32)


@pytest.fixture
def index() -> VectorIndex:
    """Paragraph 0 owns two vectors, 1 and 3 one each, 2 none."""
    return VectorIndex.build(np.stack([EAST, 2 * NORTH, EAST + NORTH, UP]), np.array([0, 0, 1, 3]))


def test_a_paragraph_counts_once_by_its_nearest_vector(index: VectorIndex) -> None:
    assert index.search(EAST, 5) == [0, 1, 3]
    assert index.search(EAST, 1) == [0]
    assert index.cosine(EAST, 0) == pytest.approx(1.0)
    assert index.cosine(EAST, 1) == pytest.approx(np.sqrt(0.5))


def test_vectors_are_normalised(index: VectorIndex) -> None:
    assert index.cosine(NORTH, 0) == pytest.approx(1.0)


def test_a_paragraph_without_vectors_is_as_far_as_can_be(index: VectorIndex) -> None:
    assert index.cosine(EAST, 2) == -1.0


def test_only_allowed_paragraphs_come(index: VectorIndex) -> None:
    assert index.search(EAST, 5, np.array([False, True, True, True])) == [1, 3]
    assert index.search(EAST, 5, np.zeros(4, dtype=np.bool_)) == []


def test_a_saved_index_finds_the_same(index: VectorIndex, tmp_path: Path) -> None:
    index.save(tmp_path)
    again = VectorIndex.load(tmp_path)
    assert again.search(NORTH, 5) == index.search(NORTH, 5)
    assert (again.dimension, again.count) == (3, 4)


@pytest.mark.parametrize("file", [FILE, OWNERS])
@pytest.mark.parametrize("content", [b"", b"torn"])
def test_a_torn_file_is_an_error(index: VectorIndex, tmp_path: Path, file: str, content: bytes) -> None:
    index.save(tmp_path)
    (tmp_path / file).write_bytes(content)
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        VectorIndex.load(tmp_path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        VectorIndex.load(tmp_path)


def test_files_of_two_indexes_are_told(index: VectorIndex, tmp_path: Path) -> None:
    index.save(tmp_path)
    np.save(tmp_path / OWNERS, np.array([0]))
    with pytest.raises(KnowledgeBaseError, match="4 vectors and 1 owners"):
        VectorIndex.load(tmp_path)


@pytest.mark.parametrize("bad", [np.zeros((1, 3)), np.full((1, 3), np.nan)])
def test_unusable_vectors_are_refused(bad: Vectors) -> None:
    with pytest.raises(KnowledgeBaseError, match="empty or not finite"):
        VectorIndex.build(bad.astype(np.float32), np.array([0]))


def test_owners_must_ascend() -> None:
    with pytest.raises(ValueError, match="ascend"):
        VectorIndex.build(np.stack([EAST, UP]), np.array([1, 0]))
