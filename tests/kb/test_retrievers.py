"""One conformance suite for everything that finds paragraphs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain import Evidence
from kb import vectors
from kb.query import Query, Retriever
from kb.retrievers import HybridRetriever, JoinedRetriever
from kb.segments import Segment, SegmentWriter
from kb.shipped import embed
from kb.vectors import Centre

KINDS = ["dense", "dense-graph", "dense-lists", "words", "words-pieces", "sparse", "hybrid", "joined"]
COUNT = 300
SUBJECTS = ("tax", "school", "vote", "prayer", "wage", "border")
Retrieval = tuple[Retriever, Callable[[str], Any]]


class SparseWords:
    """An embedder that weighs every word as 1, with the words' own numbers as tokens."""

    def __init__(self, embedder: Any) -> None:
        self.name, self.dimension, self._embedder = "sparse-words", embedder.dimension, embedder
        self.queries, self.passages, self.close = embedder.queries, embedder.passages, embedder.close

    async def token_weights(self, texts: list[str]) -> list[dict[int, float]]:
        return [{int.from_bytes(word.encode()[:8], "big"): 1.0 for word in text.lower().split()} for text in texts]


@pytest.fixture
def paragraphs(evidence: Callable[..., Evidence]) -> list[Evidence]:
    return [
        evidence(f"p{n}", f"moon {SUBJECTS[n % 6]} paragraph{n}", [f"no {SUBJECTS[n % 6]} here{n}"])
        for n in range(COUNT)
    ]


@pytest.fixture(params=KINDS)
async def retrieval(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    embedder: Any,
    paragraphs: list[Evidence],
    monkeypatch: pytest.MonkeyPatch,
) -> Retrieval:
    kind: str = request.param
    monkeypatch.setattr(vectors, "FLAT_BELOW", 9**9 if kind not in ("dense-graph", "dense-lists") else 0)
    monkeypatch.setattr(vectors, "GRAPH_BELOW", 9**9 if kind != "dense-lists" else 0)
    monkeypatch.setattr(vectors, "CODE_BITS", 4)  # 256 codes for a few vectors take k-means half a minute
    model = SparseWords(embedder)

    async def segment(name: str, some: list[Evidence], centre: Centre | None = None) -> tuple[Segment, Centre]:
        writer = SegmentWriter(tmp_path / name, pieces=kind == "words-pieces")
        writer.add(await embed(some, model))
        used_centre = writer.finish(centre)
        return Segment(tmp_path / name, used_centre), used_centre

    whole, centre = await segment("0", paragraphs if kind != "joined" else paragraphs[: COUNT - 20])
    assert whole.sparse
    retriever: Retriever
    if kind == "hybrid":
        retriever = HybridRetriever([whole.vectors, whole.words], [1.0, 0.2])
    elif kind == "joined":
        later, _ = await segment("1", paragraphs[COUNT - 20 :], centre)
        retriever = JoinedRetriever([whole.vectors, later.vectors], [COUNT - 20, 20])
    else:
        parts: dict[str, Retriever] = {"dense": whole.vectors, "words": whole.words, "sparse": whole.sparse}
        retriever = parts[kind.split("-")[0]]

    async def ask(text: str) -> Query:
        return Query(text, (await model.queries([text]))[0], (await model.token_weights([text]))[0])

    return retriever, ask


async def test_what_shares_the_words_comes_first_by_falling_score(retrieval: Retrieval) -> None:
    retriever, ask = retrieval
    hits = retriever.retrieve(await ask("moon vote paragraph2"), 5)
    assert hits[0].number == 2
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_at_most_depth_different_paragraphs_come(retrieval: Retrieval, paragraphs: list[Evidence]) -> None:
    retriever, ask = retrieval
    for depth in (1, 7, 1000):
        numbers = [hit.number for hit in retriever.retrieve(await ask("moon tax"), depth)]
        assert len(numbers) == len(set(numbers)) <= min(depth, len(paragraphs))
        assert numbers
        assert set(numbers) <= set(range(len(paragraphs)))


async def test_only_allowed_paragraphs_come(retrieval: Retrieval) -> None:
    retriever, ask = retrieval
    allowed = np.arange(COUNT) % 6 == 3
    numbers = [hit.number for hit in retriever.retrieve(await ask("moon tax prayer"), COUNT, allowed)]
    assert numbers
    assert all(allowed[number] for number in numbers)
    assert retriever.retrieve(await ask("moon tax"), 5, np.zeros(COUNT, np.bool_)) == []


async def test_the_same_query_has_the_same_answer_from_many_threads(retrieval: Retrieval) -> None:
    retriever, ask = retrieval
    query = await ask("moon wage paragraph22")
    expected = retriever.retrieve(query, 10)
    with ThreadPoolExecutor(8) as threads:
        assert all(hits == expected for hits in threads.map(lambda _: retriever.retrieve(query, 10), range(64)))


@pytest.mark.parametrize("text", ["", "\x00", "' OR 1=1 --", "🌚" * 500, "moon " * 20_000])
async def test_any_text_may_be_asked_for(retrieval: Retrieval, text: str) -> None:
    retriever, ask = retrieval
    assert len(retriever.retrieve(await ask(text), 5)) <= 5


def test_a_retriever_that_lacks_its_part_of_the_query_finds_nothing(retrieval: Retrieval) -> None:
    assert retrieval[0].retrieve(Query(""), 5) == []
