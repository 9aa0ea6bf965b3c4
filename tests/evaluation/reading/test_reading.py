"""Blind readings: who is read, what readers may write, and what is counted of it."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.errors import BadInput
from evaluation.command import evaluate
from evaluation.lines import append_lines
from evaluation.reading.scores import by_system, read_verdicts
from evaluation.reading.sheets import read_key, write_sheets
from evaluation.run import RunFolder
from rejoinder.cli import Program
from tests.evaluation.runs import make_run

PROGRAM = Program(commands=[evaluate])
SHARED = "Nobody is worth less."


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """Return a run in which `free` and `plain` gave the same reply to p0, `compose` stood in for `plain` once, and
    `plain` had nothing for the last post."""
    run = make_run(
        tmp_path / "run", {"compose": ["A", "B", "C", "D"], "free": [SHARED, "F", "G"], "plain": [SHARED, "I", "", "J"]}
    )
    drafts = [
        draft.model_copy(update={"writer": "compose"}) if draft.text == "I" else draft.model_copy(update={"seconds": 2})
        for draft in run.drafts()
    ]
    run.drafts_path.unlink()
    append_lines(run.drafts_path, drafts)
    return run


def scored(run: RunFolder, reader: str, line: dict[str, str], otherwise: str = "3\t1\t-") -> Path:
    """Write what a reader thinks, by the text of the reply."""
    path = run.path / f"{reader}-1.tsv"
    rows = [row.split("\t") for sheet in run.path.glob("reading/sheet-*.tsv") for row in sheet.read_text().splitlines()]
    path.write_text("".join(f"{number}\t{line.get(text, otherwise)}\n" for number, _, text in rows))
    return path


def test_sheets_hold_each_reply_of_a_systems_own_once_and_name_nobody(run: RunFolder) -> None:
    sheets = write_sheets(run, portion=5)
    rows = [row.split("\t") for sheet in sheets for row in sheet.read_text().splitlines()]
    assert [len(sheet.read_text().splitlines()) for sheet in sheets] == [5, 3]
    assert [number for number, _, _ in rows] == [str(number) for number in range(1, 9)]
    assert sorted(text for _, _, text in rows) == ["A", "B", "C", "D", "F", "G", "J", SHARED]
    assert not any(name in sheet.read_text() for sheet in sheets for name in ("compose", "free", "plain", "hybrid"))


def test_a_system_is_judged_by_its_own_replies_and_both_readers(run: RunFolder) -> None:
    write_sheets(run, portion=100)
    papers = [
        scored(run, "ann", {SHARED: "5\t2\t-", "J": "1\t0\techo, false"}),
        scored(run, "bea", {SHARED: "4\t2\ttone", "J": "2\t1\tgarbled"}),
    ]
    key = read_key(run)
    readings = by_system(run.drafts(), key, read_verdicts(papers, key))
    by_name = {reading.system.split("/")[0]: reading for reading in readings}
    plain, free = by_name["plain"], by_name["free"]
    assert (plain.posts, plain.drafted, plain.stood_in, plain.read, plain.seconds) == (4, 0.75, 0.25, 2, 1.5)
    assert (plain.mean, plain.good, plain.answers) == (3.0, 0.5, 0.5)
    assert (plain.echoes, plain.false, plain.awkward, plain.agrees) == (0.25, 0.25, 0.25, 0)
    assert plain.agreement == pytest.approx(1)
    assert free.mean == 3.5 and math.isnan(by_name["compose"].agreement)
    assert [reading.mean for reading in readings] == [3.5, 3.0, 3.0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("6\t2\t-", "write number, score"),
        ("3\t4\t-", "write number, score"),
        ("3\t2\tdull", "write number, score"),
        ("3\t2\t-\n1\t3\t2\t-", "is there twice"),
        ("3\t2\t-\n99\t3\t2\t-", "on no sheet"),
    ],
)
def test_a_line_that_can_not_be_counted_is_named(run: RunFolder, line: str, message: str) -> None:
    write_sheets(run, portion=100)
    with pytest.raises(BadInput, match=f"ann-1.tsv, line .*{message}"):
        read_verdicts([scored(run, "ann", {}, line)], read_key(run))


def test_it_takes_two_readers_who_scored_everything(run: RunFolder) -> None:
    write_sheets(run, portion=100)
    key = read_key(run)
    ann = scored(run, "ann", {})
    with pytest.raises(BadInput, match="Two readers are counted, not 1"):
        read_verdicts([ann], key)
    half = run.path / "bea-1.tsv"
    half.write_text("".join(ann.read_text().splitlines(keepends=True)[:6]))
    with pytest.raises(BadInput, match="bea has not scored 2 replies"):
        read_verdicts([ann, half], key)


def test_sheets_are_not_renumbered_when_drafts_were_added(run: RunFolder) -> None:
    write_sheets(run, portion=5)
    key = read_key(run)
    assert len(write_sheets(run, portion=100)) == len(list(run.path.glob("reading/sheet-*.tsv"))) == 1
    late = next(run.drafts()).model_copy(update={"system": "compose/late/hybrid", "text": "K"})
    append_lines(run.drafts_path, [late])
    with pytest.raises(BadInput, match=r"before the drafts changed.*move .*reading away"):
        write_sheets(run, portion=100)
    assert read_key(run) == key
    verdicts = read_verdicts([scored(run, "ann", {}), scored(run, "bea", {})], key)
    assert late.system not in {reading.system for reading in by_system(run.drafts(), key, verdicts)}


def test_a_torn_key_is_named(run: RunFolder) -> None:
    write_sheets(run, portion=100)
    (run.path / "reading" / "key.json").write_text('{"1": {"po')
    with pytest.raises(BadInput, match=r"key\.json is damaged"):
        read_key(run)


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_verdicts_are_read_as_spreadsheets_write_them(run: RunFolder, encoding: str) -> None:
    write_sheets(run, portion=100)
    papers = [scored(run, "ann", {}, "3\t1\t-\tschön"), scored(run, "bea", {})]
    papers[0].write_bytes(papers[0].read_text().replace("\n", "\r\n").encode(encoding))
    assert len(read_verdicts(papers, read_key(run))["ann"]) == 8


def test_no_reply_is_a_formula_or_an_open_quotation_on_a_sheet(tmp_path: Path) -> None:
    texts = ["=1+1", " +1", "-1", "@A1", '"Open', 'Not "open']
    (sheet,) = write_sheets(make_run(tmp_path, {"compose": texts}), portion=100)
    with sheet.open(newline="") as file:
        cells = [row[2] for row in csv.reader(file, delimiter="\t")]
    assert sorted(cells) == sorted(["'=1+1", "'+1", "'-1", "'@A1", "'\"Open", 'Not "open'])


def test_the_command_writes_sheets_and_prints_the_table(run: RunFolder) -> None:
    early = CliRunner().invoke(PROGRAM, ["evaluate", "read", str(run.path), "--collect", str(run.posts_path)])
    assert early.exit_code == 1 and "has no sheets" in early.output
    sheets = CliRunner().invoke(PROGRAM, ["evaluate", "read", str(run.path), "--portion", "6"])
    assert "sheet-2.tsv" in sheets.output and (run.path / "reading" / "instructions.md").exists()
    papers = [
        scored(run, "ann", {"A": "5\t2\t-", "J": "1\t0\t-"}),
        scored(run, "bea", {"B": "4\t2\t-", "J": "2\t0\t-"}),
    ]
    result = CliRunner().invoke(
        PROGRAM, ["evaluate", "read", str(run.path), *(part for paper in papers for part in ("--collect", str(paper)))]
    )
    assert result.exit_code == 0, result.output
    assert "| `compose/none/hybrid` | 4 | 100% | 0% | 2.0 | 4 | 3.38 | 25% | 25% |" in result.output
    assert "Readers' r over all 8 replies: 0.50" in result.output
