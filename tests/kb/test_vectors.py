from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from core.errors import KnowledgeBaseError
from kb import vectors
from kb.query import Query, Vectors
from kb.vectors import FILE, OWNERS, ROWS, SUBJECT_ALONE, Centre, VectorIndex, kind_for, normalised

EAST, NORTH, UP = np.eye(3, dtype=np.float32)
NO_CENTRE = Centre(np.zeros(3, np.float32), np.zeros(3, np.float32))
Write = Callable[..., VectorIndex]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def build(rows: Vectors, owners: list[int], centre: Centre = NO_CENTRE) -> VectorIndex:
        halves = normalised(np.asarray(rows, np.float32))
        halves.tofile(tmp_path / ROWS)
        VectorIndex.write(tmp_path, halves, np.array(owners, np.int32), centre)
        return VectorIndex.load(tmp_path, centre)

    return build


@pytest.fixture
def index(write: Write) -> VectorIndex:
    """Paragraph 0 owns two vectors, 1 and 3 one each, 2 none."""
    return write(np.stack([EAST, 2 * NORTH, EAST + NORTH, UP]), [0, 0, 1, 3])


def _found(index: VectorIndex, vector: Vectors, depth: int = 5, allowed: list[bool] | None = None) -> list[int]:
    mask = None if allowed is None else np.array(allowed)
    return [hit.number for hit in index.retrieve(Query("", vector), depth, mask)]


def test_a_paragraph_counts_once_by_its_nearest_vector(index: VectorIndex) -> None:
    assert _found(index, EAST) == [0, 1, 3]
    assert _found(index, EAST, 1) == [0]
    assert index.cosines(EAST, np.array([3, 0, 1])) == pytest.approx([0, 1, np.sqrt(0.5)], abs=1e-3)


def test_the_text_counts_a_little_beside_the_nearest_claim(write: Write) -> None:
    rows = np.stack([UP, EAST, NORTH + EAST, EAST])
    assert _found(write(rows, [0, 0, 1, 1]), EAST) == [1, 0]


def test_a_claim_that_is_nearly_as_near_as_a_text_without_claims_comes_first(write: Write) -> None:
    near = np.float32(0.97) * EAST + np.float32(np.sqrt(1 - 0.97**2)) * NORTH
    rows = np.stack([EAST, near, near])
    assert _found(write(rows, [0, 1, 1]), EAST) == [1, 0]
    far = np.float32(0.9) * EAST + np.float32(np.sqrt(1 - 0.9**2)) * NORTH
    assert _found(write(np.stack([EAST, far, far]), [0, 1, 1]), EAST) == [0, 1]


def test_a_common_direction_is_taken_off(write: Write) -> None:
    shared = 10 * UP
    rows = np.stack([shared + EAST, shared + NORTH])
    query = normalised((shared + EAST)[None]).astype(np.float32)[0]
    centre = Centre(query * 0.9, query * 0.9)
    scores = [hit.score for hit in write(rows, [0, 1], centre).retrieve(Query("", query), 2)]
    assert scores[0] == pytest.approx(1 - SUBJECT_ALONE, abs=1e-2)
    assert scores[1] < 0.9


def test_a_query_without_a_vector_finds_nothing(index: VectorIndex) -> None:
    assert index.retrieve(Query("words only"), 5) == []


def test_only_allowed_paragraphs_come(index: VectorIndex) -> None:
    assert _found(index, EAST, allowed=[False, True, True, True]) == [1, 3]
    assert _found(index, EAST, allowed=[False] * 4) == []


def test_plain_vectors_and_centred_texts_come_back(index: VectorIndex) -> None:
    assert index.rows_of(np.array([3, 0])).tolist() == [UP.tolist(), EAST.tolist(), NORTH.tolist()]
    assert index.text_vectors(np.array([3, 0])).tolist() == [UP.tolist(), EAST.tolist()]


@pytest.mark.parametrize(("count", "kind"), [(49_999, "Flat"), (50_000, "HNSW"), (200_000, "IVF-PQ")])
def test_the_index_follows_the_size(count: int, kind: str) -> None:
    assert kind_for(count) == kind


@pytest.mark.parametrize(
    ("flat", "graph", "kind"), [(9**9, 9**9, "IndexFlatIP"), (10, 9**9, "IndexHNSWSQ"), (10, 20, "IndexIVFPQ")]
)
def test_every_kind_finds_what_exact_search_finds(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, flat: int, graph: int, kind: str
) -> None:
    monkeypatch.setattr(vectors, "FLAT_BELOW", flat)
    monkeypatch.setattr(vectors, "GRAPH_BELOW", graph)
    monkeypatch.setattr(vectors, "CODE_BITS", 4)  # 256 codes for a few vectors take k-means half a minute
    rng = np.random.default_rng(3)
    middles = rng.normal(size=(60, 32))
    rows = normalised((middles[rng.integers(60, size=3000)] + 0.4 * rng.normal(size=(3000, 32))).astype(np.float32))
    rows.tofile(tmp_path / ROWS)
    centre = Centre(np.zeros(32, np.float32), np.zeros(32, np.float32))
    VectorIndex.write(tmp_path, rows, np.arange(3000, dtype=np.int32), centre)
    index = VectorIndex.load(tmp_path, centre)
    assert index.kind == kind
    mask = np.arange(3000) % 3 == 0
    for allowed in (None, mask):
        shared = []
        for query in rows[:40].astype(np.float32) + 0.05 * rng.normal(size=(40, 32)).astype(np.float32):
            exact = rows.astype(np.float32) @ query
            exact[~mask if allowed is not None else []] = -9
            retrieved = {hit.number for hit in index.retrieve(Query("", query), 3, allowed)}
            shared.append(len(set(np.argsort(-exact)[:3]) & retrieved))
        assert np.mean(shared) / 3 >= 0.95


@pytest.mark.parametrize("file", [FILE, OWNERS, ROWS])
@pytest.mark.parametrize("content", [b"", b"torn"])
def test_a_torn_file_is_an_error(index: VectorIndex, tmp_path: Path, file: str, content: bytes) -> None:
    (tmp_path / file).unlink()
    (tmp_path / file).write_bytes(content)
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        VectorIndex.load(tmp_path, NO_CENTRE)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match="can't be read"):
        VectorIndex.load(tmp_path, NO_CENTRE)


def test_files_of_two_indexes_are_told(index: VectorIndex, tmp_path: Path) -> None:
    (tmp_path / OWNERS).unlink()
    np.save(tmp_path / OWNERS, np.array([0]))
    with pytest.raises(KnowledgeBaseError, match="4 vectors, 4 rows and 1 owners"):
        VectorIndex.load(tmp_path, NO_CENTRE)


@pytest.mark.parametrize("bad", [np.zeros((1, 3)), np.full((1, 3), np.nan), np.ones(3)])
def test_unusable_vectors_are_refused(bad: Vectors) -> None:
    with pytest.raises(KnowledgeBaseError, match="empty or not finite"):
        normalised(bad.astype(np.float32))
