"""A run folder of which something was lost or torn says what, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.errors import BadInput
from evaluation.people.forms import read_key, write_forms
from evaluation.report.page import write
from evaluation.run import RunFolder
from tests.evaluation.runs import scored_run

DRAFTS = {"compose": ["Some words here.", "More words here."], "free": ["Other words.", "Few."]}


def report(path: Path) -> object:
    return write(RunFolder.open(path))


def forms(path: Path) -> object:
    return write_forms(RunFolder.open(path), 2)


def key(path: Path) -> object:
    return read_key(RunFolder.open(path))


@pytest.mark.parametrize(
    ("lost", "command", "complaint"),
    [
        ("posts.jsonl", report, "has no posts.jsonl"),
        ("drafts.jsonl", report, "not in drafts.jsonl .* again"),
        ("scores.jsonl", report, "evaluate score"),
        ("posts.jsonl", forms, "has no posts.jsonl"),
    ],
)
async def test_a_lost_file_is_named(
    tmp_path: Path, lost: str, command: Callable[[Path], object], complaint: str
) -> None:
    run = await scored_run(tmp_path, DRAFTS)
    (run.path / lost).unlink()
    with pytest.raises(BadInput, match=complaint):
        command(tmp_path)


@pytest.mark.parametrize(
    ("torn", "command"), [("scores.json", report), ("judge.json", report), ("people.json", report), ("key.json", key)]
)
async def test_a_torn_file_is_named(tmp_path: Path, torn: str, command: Callable[[Path], object]) -> None:
    run = await scored_run(tmp_path, DRAFTS)
    write_forms(run, 2)
    (run.path / ("people" if torn == "key.json" else "") / torn).write_text('{"systems": ')
    with pytest.raises(BadInput, match=rf"{torn} is damaged .* again"):
        command(tmp_path)


async def test_posts_that_were_lost_are_counted(tmp_path: Path) -> None:
    run = await scored_run(tmp_path, DRAFTS)
    first, *_ = run.posts_path.read_bytes().splitlines(keepends=True)
    run.posts_path.write_bytes(first)
    with pytest.raises(BadInput, match="has 1 posts, and the run was begun with 2"):
        run.posts()
