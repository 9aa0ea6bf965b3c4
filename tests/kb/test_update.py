from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain import Evidence, TargetGroup
from core.errors import KnowledgeBaseError
from core.settings import KnowledgeBaseSettings
from kb import build, versions
from kb.query import Query
from kb.search import Searcher
from kb.snapshot import Snapshot

OPEN = KnowledgeBaseSettings(min_relevance=0.0)
Make = Callable[..., Evidence]


@pytest.fixture(params=["whole", "segments"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let updates write everything anew, or add segments however much has changed."""
    if request.param == "segments":
        monkeypatch.setattr(build, "SMALL", 0)
        monkeypatch.setattr(build, "STALE", 1.0)
        monkeypatch.setattr(build, "GROWTH", 0)
    return str(request.param)


@pytest.fixture
async def folder(tmp_path: Path, embedder: Any, statements: list[Evidence]) -> Path:
    await build.build(statements, embedder, tmp_path)
    return tmp_path


async def _ids(folder: Path, embedder: Any, query: str, **options: Any) -> list[str]:
    searcher = Searcher.open(folder, embedder, OPEN)
    try:
        return [paragraph.id for paragraph in await searcher.search(query, k=9, **options)]
    finally:
        searcher.close()


async def test_added_paragraphs_are_found_beside_the_old_ones(
    folder: Path, embedder: Any, way: str, evidence: Make
) -> None:
    ferry = evidence("ferry", "The ferry to the moon carries everyone.", ["ferries are for us"], [TargetGroup.WOMEN])
    await build.update(folder, embedder, put=[ferry])
    assert (await _ids(folder, embedder, "ferries are for us"))[0] == "ferry"
    assert (await _ids(folder, embedder, "women should not vote"))[0] == "vote"
    assert "ferry" in await _ids(folder, embedder, "moon", groups=[TargetGroup.WOMEN])
    with_segments = Snapshot.open(folder)
    assert len(with_segments.segments) == (2 if way == "segments" else 1)
    assert with_segments.manifest.paragraphs == 6
    with_segments.close()


async def test_only_what_is_put_is_embedded(folder: Path, embedder: Any, way: str, evidence: Make) -> None:
    embedder.embedded.clear()
    embedder.asked.clear()
    await build.update(folder, embedder, put=[evidence("new", "A new text.", ["a new claim"])])
    assert (embedder.embedded, embedder.asked) == (["A new text."], ["a new claim"])


async def test_a_paragraph_of_the_same_id_is_replaced(folder: Path, embedder: Any, way: str, evidence: Make) -> None:
    await build.update(folder, embedder, put=[evidence("vote", "Ballots are open to all.", ["women should not vote"])])
    searcher = Searcher.open(folder, embedder, OPEN)
    copies = [paragraph for paragraph in await searcher.search("women should not vote", k=9) if paragraph.id == "vote"]
    assert [paragraph.text for paragraph in copies] == ["Ballots are open to all."]
    searcher.close()
    with closing(Snapshot.open(folder)) as snapshot:
        assert sum(holding.paragraphs for holding in snapshot.stats() if holding.group == TargetGroup.WOMEN) == 2


async def test_removed_paragraphs_are_gone_and_can_come_back(
    folder: Path, embedder: Any, way: str, statements: list[Evidence]
) -> None:
    await build.update(folder, embedder, remove=["vote", "work"])
    assert {"vote", "work"}.isdisjoint(await _ids(folder, embedder, "women should not vote"))
    await build.update(folder, embedder, put=[statements[2]])
    assert (await _ids(folder, embedder, "women should not vote"))[0] == "vote"


async def test_updates_go_on_and_on(folder: Path, embedder: Any, way: str, evidence: Make) -> None:
    for n in range(6):
        await build.update(
            folder,
            embedder,
            put=[evidence(f"n{n}", f"Number {n} speaks of zorblax{n}.")],
            remove=[f"n{n - 2}"] if n > 1 else [],
        )
    ids = await _ids(folder, embedder, "zorblax5 zorblax4 zorblax0")
    assert {"n4", "n5"} <= set(ids)
    assert not {"n0", "n1", "n2", "n3"} & set(ids)


async def test_many_small_updates_leave_few_segments(
    tmp_path: Path, embedder: Any, evidence: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "SMALL", 0)
    await build.build([evidence(f"n{n}", f"Number n{n}.") for n in range(50)], embedder, tmp_path)
    sizes = []
    for n in range(50, 63):
        await build.update(tmp_path, embedder, put=[evidence(f"n{n}", f"Number n{n}.")], remove=[f"n{n - 50}"])
        with closing(Snapshot.open(tmp_path)) as snapshot:
            sizes.append([segment.count for segment in snapshot.segments])
            assert sorted(paragraph.id for paragraph in snapshot.get(next(snapshot.batches(99)))) == sorted(
                f"n{number}" for number in range(n - 49, n + 1)
            )
    assert sizes[:6] == [[50, 1], [50, 2], [50, 3], [50, 4], [50, 5], [50, 5, 1]]
    assert sizes[-1] == [50], "a quarter of the base came later, or a fifth of all is gone"


def test_sizes_of_segments_fall_fast() -> None:
    sizes: list[int] = [1_000_000]
    most = 0
    for _ in range(3_000):
        first = build._first_rewritten(sizes, 1_000)
        sizes = [*sizes[:first], sum(sizes[first:]) + 1_000]
        most = max(most, len(sizes))
    assert most <= 7 and sum(sizes) == 4_000_000


async def test_a_knowledge_base_that_grows_large_is_written_anew_in_whole_words(
    folder: Path, embedder: Any, evidence: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "SMALL", 6)
    await build.update(folder, embedder, put=[evidence(f"n{n}", f"Harbour number {n}.") for n in range(2)])
    with closing(Snapshot.open(folder)) as snapshot:
        assert len(snapshot.segments) == 1
        assert snapshot.retriever("words").retrieve(Query("harbours"), 9) == [], "`harbours` is no word of any text"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"remove": ["nobody"]}, "no paragraph 'nobody' to remove"),
        ({"remove": ["moon", "school", "vote", "work", "faith"]}, "leave no paragraph"),
    ],
)
async def test_an_update_that_cannot_be_changes_nothing(
    folder: Path, embedder: Any, way: str, change: dict[str, Any], complaint: str
) -> None:
    before = versions.current(folder)
    with pytest.raises(KnowledgeBaseError, match=complaint):
        await build.update(folder, embedder, **change)
    assert versions.current(folder) == before


async def test_a_repeated_text_is_refused(folder: Path, embedder: Any, way: str, statements: list[Evidence]) -> None:
    again = statements[0].model_copy(update={"id": "moon-2"})
    with pytest.raises(KnowledgeBaseError, match="repeats the text of 'moon'"):
        await build.update(folder, embedder, put=[again])
    await build.update(folder, embedder, put=[again], remove=["moon"])


async def test_another_embedders_knowledge_base_is_refused(folder: Path, embedder: Any) -> None:
    embedder.name = "other"
    with pytest.raises(KnowledgeBaseError, match="built with the embedder words-64"):
        await build.update(folder, embedder, remove=["moon"])


async def test_updates_at_once_are_all_kept(folder: Path, embedder: Any, way: str, evidence: Make) -> None:
    await asyncio.gather(*(build.update(folder, embedder, put=[evidence(f"n{n}", f"Text {n}.")]) for n in range(4)))
    snapshot = Snapshot.open(folder)
    assert set(snapshot.find([f"n{n}" for n in range(4)])) == {f"n{n}" for n in range(4)}
    snapshot.close()


async def test_sparse_weights_survive_an_update(tmp_path: Path, embedder: Any, way: str, evidence: Make) -> None:
    class Weighing(type(embedder)):  # type: ignore[misc]
        async def token_weights(self, texts: list[str]) -> list[dict[int, float]]:
            return [{ord(text[0]): 0.5, ord(text[-2]): 0.25} for text in texts]

    model = Weighing()
    await build.build([evidence("a", "Alpha", []), evidence("b", "Beta", [])], model, tmp_path)
    await build.update(tmp_path, model, put=[evidence("c", "Gamma", [])], remove=["a"])
    searcher = Searcher.open(tmp_path, model, KnowledgeBaseSettings(min_relevance=0.0, retriever="sparse"))
    assert [paragraph.id for paragraph in await searcher.search("Bets", k=9)] == ["b"]
    assert [paragraph.id for paragraph in await searcher.search("Gamy", k=9)] == ["c"]
    searcher.close()


async def test_a_hundred_searches_a_second_go_on_while_updates_are_swapped_in(
    tmp_path: Path, embedder: Any, way: str, evidence: Make
) -> None:
    """Every version says its own number in all its texts: a result that names two is mixed."""

    def wave(number: int) -> list[Evidence]:
        return [evidence(f"p{n}", f"moon text{n} wave {number}", [f"moon claim{n}"], symbol=f"S{n}") for n in range(20)]

    await build.build(wave(0), embedder, tmp_path)
    searcher = Searcher.open(tmp_path, embedder, OPEN)
    vector = (await embedder.queries(["moon wave"]))[0]
    seen: list[set[str]] = []
    stop = asyncio.Event()

    async def search() -> None:
        results = await searcher.search("moon wave", vector=vector, k=20)
        assert len({result.id for result in results}) == 20
        seen.append({result.text.split()[-1] for result in results})

    async def hundred_a_second() -> None:
        running = set[asyncio.Task[None]]()
        while not stop.is_set():
            running.add(asyncio.create_task(search()))
            await asyncio.sleep(0.01)
        await asyncio.gather(*running)

    load = asyncio.create_task(hundred_a_second())
    for number in range(1, 6):
        await build.update(tmp_path, embedder, put=wave(number))
        async with asyncio.timeout(60):
            while len(seen) < 40 * number or seen[-1] != {str(number)}:
                await asyncio.sleep(0.01)
    stop.set()
    await load
    searcher.close()
    assert [waves for waves in seen if len(waves) != 1] == []
    assert {next(iter(waves)) for waves in seen} >= {str(number) for number in range(1, 6)}
    assert len(seen) >= 200


async def test_a_torn_new_version_is_reported_and_the_old_one_stays(
    folder: Path, embedder: Any, statements: list[Evidence], caplog: pytest.LogCaptureFixture
) -> None:
    searcher = Searcher.open(folder, embedder, OPEN)
    await build.build(statements[:2], embedder, folder)
    (versions.current(folder) / "0" / "vectors.faiss").write_bytes(b"torn")
    async with asyncio.timeout(30):
        while "is not used" not in caplog.text:
            assert (await searcher.search("women should not vote"))[0].id == "vote"
            await asyncio.sleep(0.01)
    with pytest.raises(KnowledgeBaseError, match="torn"):
        await searcher.refresh()
    await build.build(statements[:2], embedder, folder)
    await searcher.refresh()
    assert {statement.id for statement in await searcher.search("women should not vote")} <= {"moon", "school"}
    searcher.close()


def test_linked_files_are_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    np.save(tmp_path / "a" / "b" / "x.npy", np.arange(3))
    build._link(tmp_path / "a", tmp_path / "c")
    assert (tmp_path / "c" / "b" / "x.npy").stat().st_ino == (tmp_path / "a" / "b" / "x.npy").stat().st_ino
