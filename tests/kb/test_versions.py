from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from core.errors import KnowledgeBaseError
from kb import manifest
from kb.versions import GRACE_S, KEPT_S, KEPT_VERSIONS, POINTER, current, locked, new_version, stamp


def _build(folder: Path, word: str) -> Path:
    with new_version(folder) as version:
        (version / "word").write_text(word)
    return current(folder)


def test_the_newest_whole_version_is_current(tmp_path: Path) -> None:
    first = _build(tmp_path, "one")
    second = _build(tmp_path, "two")
    assert (second / "word").read_text() == "two"
    assert (first / "word").read_text() == "one", "a reader of the old version is not disturbed"


def test_a_failed_build_changes_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    before = _build(tmp_path, "one")
    names = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(RuntimeError), new_version(tmp_path):
        raise RuntimeError
    assert current(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def _aged(path: Path, seconds: float) -> Path:
    os.utime(path, times=(time.time() - seconds,) * 2)
    return path


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_old_versions_and_leftovers_of_killed_builds_go_after_a_day(tmp_path: Path) -> None:
    _aged(_build(tmp_path, "one"), KEPT_S + 120)
    second = _aged(_build(tmp_path, "two"), KEPT_S + 60)
    for name in (".unfinished-x", "notes"):
        (tmp_path / name).mkdir()
        _aged(tmp_path / name, KEPT_S + 60)
    third = _build(tmp_path, "three")
    assert _names(tmp_path) == sorted([POINTER, "notes", second.name, third.name])


def test_a_version_that_was_long_current_stays_a_while_for_those_who_are_opening_it(tmp_path: Path) -> None:
    opening = _aged(_build(tmp_path, "one"), 10 * KEPT_S)
    _build(tmp_path, "two")
    assert (opening / "word").read_text() == "one"


def test_a_long_build_keeps_only_the_last_few_versions(tmp_path: Path) -> None:
    built = [_aged(_build(tmp_path, str(n)), (10 - n) * 2 * GRACE_S) for n in range(10)]
    last = _build(tmp_path, "last")
    assert _names(tmp_path) == sorted([POINTER, last.name, *(version.name for version in built[-KEPT_VERSIONS:])])


def test_versions_that_follow_each_other_fast_stay_until_nobody_opens_them(tmp_path: Path) -> None:
    built = [_build(tmp_path, str(n)) for n in range(10)]
    assert all(version.is_dir() for version in built)


def test_the_stamp_changes_with_every_version(tmp_path: Path) -> None:
    stamps = [stamp(tmp_path)]
    for word in ("one", "two"):
        _build(tmp_path, word)
        stamps.append(stamp(tmp_path))
    assert stamps[0] is None
    assert len(set(stamps)) == 3


async def test_builders_wait_for_each_other(tmp_path: Path) -> None:
    inside: list[int] = []

    async def build(number: int) -> None:
        async with locked(tmp_path):
            inside.append(number)
            await asyncio.sleep(0)
            assert inside[-1] == number

    await asyncio.gather(*(build(number) for number in range(5)))
    assert sorted(inside) == list(range(5))


@pytest.mark.parametrize("pointer", ["", "v-gone", "../elsewhere", "/"])
def test_a_pointer_to_nothing_is_an_error(tmp_path: Path, pointer: str) -> None:
    (tmp_path / POINTER).write_text(pointer)
    with pytest.raises(KnowledgeBaseError, match="names no version"):
        current(tmp_path)


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeBaseError, match="Build it first: `rejoinder kb build`"):
        current(tmp_path)


def _manifest(folder: Path, **changes: object) -> None:
    (folder / "word").write_text("one")
    fields = {
        "embedder": "e",
        "dimension": 3,
        "paragraphs": 1,
        "vectors": 1,
        "fingerprint": "f",
        "segments": ["0"],
        "files": manifest.digests(folder),
    }
    manifest.write(folder, manifest.Manifest.model_validate(fields | changes))


def test_a_whole_folder_fits_its_manifest(tmp_path: Path) -> None:
    _manifest(tmp_path)
    assert manifest.read(tmp_path).embedder == "e"


def test_a_changed_missing_or_added_file_is_named(tmp_path: Path) -> None:
    _manifest(tmp_path)
    (tmp_path / "word").write_text("two")
    (tmp_path / "more").write_text("")
    with pytest.raises(KnowledgeBaseError, match="more, word differ"):
        manifest.read(tmp_path)


@pytest.mark.parametrize("other", [manifest.FORMAT - 1, 99])
def test_another_format_is_refused_with_the_command_to_run(tmp_path: Path, other: int) -> None:
    _manifest(tmp_path, format=other)
    with pytest.raises(KnowledgeBaseError, match=f"format {other}.*again: `rejoinder kb build`"):
        manifest.read(tmp_path)


@pytest.mark.parametrize("content", [None, b"{", b"{}", b"\xff"])
def test_a_missing_or_torn_manifest_is_an_error(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / manifest.FILE).write_bytes(content)
    with pytest.raises(KnowledgeBaseError, match=r"manifest.*rejoinder kb build"):
        manifest.read(tmp_path)
