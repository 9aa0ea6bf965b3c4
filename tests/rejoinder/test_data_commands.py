"""`rejoinder data` and `rejoinder audit` as an operator uses them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from core.domain import FlaggedPost, now
from core.settings import Settings
from ledger import Ledger
from rejoinder.assembly import open_ledger
from rejoinder.cli import main
from rejoinder.commands import audit, data
from tests.factories import make_draft, make_grounding, make_post, make_triage

AUTHOR = "zorb-hater/4711"
WORD = "Zorblings"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a data folder with two pending cases of one author."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REJOINDER_DATA_DIR", str(tmp_path / "data"))
    for module in (data, audit):
        # It sets the levels of loggers for good, which other tests listen to.
        monkeypatch.setattr(module, "start_logging", lambda settings: None)
    asyncio.run(_fill(Settings(data_dir=tmp_path / "data")))
    return tmp_path / "data"


async def _fill(settings: Settings) -> None:
    async with open_ledger(settings, migrating=True) as ledger:
        for number in (1, 2):
            await _pending(ledger, make_post(number, author_id=AUTHOR, text=f"All {WORD} are lazy."))


async def _pending(ledger: Ledger, post: FlaggedPost) -> None:
    await ledger.stages.triage(post, make_triage())
    case = await ledger.cases.get(post.key)
    await ledger.stages.ground(post.key, make_grounding(), case.request)
    await ledger.stages.draft(make_draft(post.key, created_at=now()))


def invoke(*argv: str, code: int = 0, given: str | None = None) -> Result:
    result = CliRunner().invoke(main, argv, input=given)
    assert result.exit_code == code, result.output
    return result


def test_everything_of_an_author_is_exported_and_the_file_is_the_operators_alone(folder: Path) -> None:
    output = folder / "export.json"
    invoke("data", "export", "--author", f"forum/{AUTHOR}", "--ledger-only", "--output", str(output))
    held = json.loads(output.read_text())
    assert [case["case"]["post"]["text"] for case in held["cases"]] == [f"All {WORD} are lazy."] * 2
    assert output.stat().st_mode & 0o777 == 0o600
    output.chmod(0o644)
    invoke("data", "export", "--case", "forum/2", "--ledger-only", "--output", str(output))
    assert output.stat().st_mode & 0o777 == 0o600
    nowhere = str(folder / "missing" / "export.json")
    refused = invoke("data", "export", "--case", "forum/2", "--ledger-only", "--output", nowhere, code=1).output
    assert "missing/export.json can't be written" in refused
    one: dict[str, Any] = json.loads(invoke("data", "export", "--case", "forum/2", "--ledger-only").output)
    assert [case["case"]["key"] for case in one["cases"]] == ["forum/2"]


def test_an_author_is_erased_once_the_operator_has_said_yes(folder: Path) -> None:
    erase = ("data", "erase", "--author", f"forum/{AUTHOR}")
    assert "Erase the texts of 2 cases?" in invoke(*erase, code=1, given="n\n").output
    assert WORD in (held := invoke("data", "export", "--case", "forum/1", "--ledger-only").output), held
    assert "texts of 2 cases erased" in invoke(*erase, "--yes").output
    assert WORD not in invoke("data", "export", "--case", "forum/1", "--ledger-only").output
    assert "knows no case of this author" in invoke(*erase, "--yes", code=1).output
    assert "1 were erased before" in invoke("data", "erase", "--case", "forum/1", "--yes").output
    assert "all as it was written" in invoke("audit", "verify").output


def test_what_can_not_be_meant_is_told(folder: Path) -> None:
    assert "name a --case or an --author" in invoke("data", "erase", code=2).output
    assert "PLATFORM/ID" in invoke("data", "export", "--author", "4711", code=1).output
    assert "no case forum/9" in invoke("data", "erase", "--case", "forum/9", "--yes", code=1).output
    assert "no case forum/9" in invoke("audit", "verify", "--case", "forum/9", code=1).output


def test_verify_prints_the_first_break(folder: Path) -> None:
    output = invoke("audit", "verify").output
    assert "8 transitions of 2 cases looked at, 0 of them erased" in output
    with sqlite3.connect(folder / "ledger.db") as connection:
        connection.execute("UPDATE cases SET post = replace(post, 'lazy', 'idle') WHERE key = 'forum/2'")
    connection.close()
    broken = "broken: case forum/2, version 1: the post on file is not the one that came with it"
    assert broken in invoke("audit", "verify", code=1).output
    assert "all as it was written" in invoke("audit", "verify", "--case", "forum/1").output
