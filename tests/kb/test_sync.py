from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.domain import Evidence
from kb import sync as module
from kb import versions
from kb.snapshot import Snapshot
from kb.sync import SyncCounts, sync
from tests.kb.conftest import written_by_an_older_version

Make = Callable[..., Evidence]


def _texts(folder: Path) -> dict[str, str]:
    with closing(Snapshot.open(folder)) as snapshot:
        return {paragraph.id: paragraph.text for batch in snapshot.batches(100) for paragraph in snapshot.get(batch)}


async def test_a_folder_holds_what_is_given_and_only_news_is_embedded(
    tmp_path: Path, embedder: Any, evidence: Make
) -> None:
    first = [evidence(name, f"The text {name}.", [f"claim {name}"]) for name in "abcd"]
    assert await sync(lambda: first, embedder, tmp_path) == SyncCounts(put=4, removed=0, kept=0)
    embedder.embedded.clear()
    second = [*first[:2], evidence("c", "Another text c."), evidence("e", "The text d.")]
    assert await sync(lambda: second, embedder, tmp_path) == SyncCounts(put=2, removed=2, kept=2)
    assert embedder.embedded == ["Another text c.", "The text d."], "a text may move from one id to another"
    assert _texts(tmp_path) == {paragraph.id: paragraph.text for paragraph in second}


async def test_nothing_new_writes_nothing(tmp_path: Path, embedder: Any, statements: list[Evidence]) -> None:
    await sync(lambda: statements, embedder, tmp_path)
    before = versions.current(tmp_path)
    assert await sync(lambda: statements, embedder, tmp_path) == SyncCounts(0, 0, len(statements))
    assert versions.current(tmp_path) == before


async def test_an_interrupted_run_goes_on_where_it_was(
    tmp_path: Path, embedder: Any, evidence: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PORTION", 3)
    every = [evidence(f"n{n}", f"Text number {n}.", [f"claim {n}"]) for n in range(8)]
    turns = 0

    def torn() -> Iterator[Evidence]:
        nonlocal turns
        turns += 1
        for paragraph in every:
            if turns == 2 and paragraph.id == "n7":
                raise KeyboardInterrupt
            yield paragraph

    with pytest.raises(KeyboardInterrupt):
        await sync(torn, embedder, tmp_path)
    assert len(_texts(tmp_path)) == 6
    progress: list[tuple[int, int]] = []
    embedder.embedded.clear()
    assert await sync(lambda: every, embedder, tmp_path, lambda *counts: progress.append(counts)) == SyncCounts(2, 0, 6)
    assert embedder.embedded == ["Text number 6.", "Text number 7."]
    assert progress == [(0, 2), (2, 2)]
    assert _texts(tmp_path) == {paragraph.id: paragraph.text for paragraph in every}


async def test_a_changed_paragraph_is_found_as_it_was_until_it_is_embedded(
    tmp_path: Path, embedder: Any, evidence: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PORTION", 2)
    names = [f"n{n}" for n in range(5)]
    await sync(
        lambda: [*(evidence(name, f"Old {name}.") for name in names), evidence("x", "Gone.")], embedder, tmp_path
    )
    news = [evidence(name, f"New {name}.") for name in names]
    seen: list[list[str]] = []
    change = await sync(lambda: news, embedder, tmp_path, lambda *_: seen.append(sorted(_texts(tmp_path).values())))
    assert change == SyncCounts(5, 6, 0)
    assert seen[1:] == [
        ["New n0.", "New n1.", "Old n2.", "Old n3.", "Old n4."],
        ["New n0.", "New n1.", "New n2.", "New n3.", "Old n4."],
        ["New n0.", "New n1.", "New n2.", "New n3.", "New n4."],
    ]


@pytest.mark.parametrize("last", ["Old n5.", "New n5."])
async def test_texts_may_change_places_over_portions(
    tmp_path: Path, embedder: Any, evidence: Make, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    monkeypatch.setattr(module, "PORTION", 1)
    await sync(lambda: [evidence(f"n{n}", f"Old n{n}.") for n in range(6)], embedder, tmp_path)
    texts = ["Old n4.", "Old n0.", "New n2.", "Old n3.", "Old n1.", last]
    moved = [evidence(f"n{n}", text) for n, text in enumerate(texts)]
    await sync(lambda: moved, embedder, tmp_path)
    assert _texts(tmp_path) == {paragraph.id: paragraph.text for paragraph in moved}


async def test_a_text_is_kept_under_the_id_that_gives_it_first(
    tmp_path: Path, embedder: Any, evidence: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PORTION", 2)
    starter = evidence("starter", "The harbours are open.")
    own = [
        evidence("own#1", "Boats land."),
        evidence("own#2", "The harbours are open."),
        evidence("own#3", "So be it."),
    ]
    assert (await sync(lambda: [starter, *own], embedder, tmp_path)) == SyncCounts(3, 0, 0, {"own#2": "starter"})
    assert set(_texts(tmp_path)) == {"starter", "own#1", "own#3"}
    assert (await sync(lambda: own, embedder, tmp_path)) == SyncCounts(1, 1, 2)
    assert set(_texts(tmp_path)) == {"own#1", "own#2", "own#3"}
    assert (await sync(lambda: [*own, starter], embedder, tmp_path)) == SyncCounts(0, 0, 3, {"starter": "own#2"})
    assert (await sync(lambda: [starter, *own], embedder, tmp_path)) == SyncCounts(1, 1, 2, {"own#2": "starter"})
    assert set(_texts(tmp_path)) == {"starter", "own#1", "own#3"}


async def test_a_first_build_says_so_in_plain_words(
    tmp_path: Path, embedder: Any, statements: list[Evidence], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "kb.sync")
    await sync(lambda: statements, embedder, tmp_path / "new")
    assert caplog.messages == [f"Building from nothing: {tmp_path / 'new'} holds no knowledge base yet"]


async def test_removing_alone_embeds_nothing(tmp_path: Path, embedder: Any, statements: list[Evidence]) -> None:
    await sync(lambda: statements, embedder, tmp_path)
    embedder.embedded.clear()
    assert await sync(lambda: statements[1:], embedder, tmp_path) == SyncCounts(0, 1, len(statements) - 1)
    assert embedder.embedded == []
    assert len(_texts(tmp_path)) == len(statements) - 1


@pytest.mark.parametrize("harm", ["embedder", "torn", "older"])
async def test_what_is_of_no_use_is_built_anew(
    tmp_path: Path, embedder: Any, statements: list[Evidence], harm: str
) -> None:
    await sync(lambda: statements, embedder, tmp_path)
    if harm == "embedder":
        embedder.name = "other"
    elif harm == "older":
        written_by_an_older_version(versions.current(tmp_path))
    else:
        (versions.current(tmp_path) / "manifest.json").write_text("{")
    assert await sync(lambda: statements, embedder, tmp_path) == SyncCounts(len(statements), 0, 0)
    assert len(_texts(tmp_path)) == len(statements)
