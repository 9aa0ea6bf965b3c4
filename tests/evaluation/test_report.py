"""The report, and the comparison of two runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.errors import BadInput
from evaluation.command import evaluate
from evaluation.comparison import compare
from evaluation.report.page import write
from evaluation.significance import holm, interval, paired
from rejoinder.cli import Program
from tests.evaluation.runs import make_run, scored_run

PROGRAM = Program(commands=[evaluate])
GOOD = [f"Zorblaxians built harbour {number}, and they keep it clean and open." for number in range(24)]
BAD = [f"No comment on number {number}" for number in range(24)]


async def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    run = await scored_run(tmp_path, {"compose": GOOD, "free": BAD})
    first = [path.read_bytes() for path in write(run)]
    assert [path.read_bytes() for path in write(run)] == first


async def test_every_figure_names_the_file_it_is_from(tmp_path: Path) -> None:
    run = await scored_run(tmp_path, {"compose": GOOD, "free": BAD})
    html, markdown = (path.read_text() for path in write(run))
    for name in ("manifest.json", "posts.jsonl", "drafts.jsonl", "scores.jsonl", "scores.json"):
        assert name in html and name.replace("_", "\\_") in markdown
    assert html.count("<table") == html.count('<p class="source">')
    bleu = run.totals()["systems"]["compose/none/hybrid"]["values"]["bleu"]["value"]
    assert f"{bleu:.4f}" in html
    assert "FA is missing." in html


async def test_drafts_and_posts_are_shown_as_text(tmp_path: Path) -> None:
    texts = ["<script>alert(1)</script> | `x` [y](z)", *GOOD]
    html, markdown = (path.read_text() for path in write(await scored_run(tmp_path, {"compose": texts})))
    assert "<script" not in html
    assert "<script" not in markdown and "&lt;script" in markdown and r"\`x\` \[y\](z)" in markdown


async def test_posts_without_a_draft_are_named_among_the_worst_cases(tmp_path: Path) -> None:
    html, _ = write(await scored_run(tmp_path, {"compose": [*GOOD, "", ""], "free": [*GOOD, *GOOD[:2]]}))
    assert "compose/none/hybrid has no draft for 2 posts: p24, p25." in html.read_text()
    assert "free/none/hybrid has no draft" not in html.read_text()


async def test_a_judgement_from_before_duels_were_counted_is_shown_without_them(tmp_path: Path) -> None:
    run = await scored_run(tmp_path, {"compose": GOOD, "free": BAD})
    row = {"wins": 7, "losses": 7, "ties": 1, "strength": 0.0, "low": -1.0, "high": 1.0}
    cost = {"calls": 30, "characters_sent": 9, "characters_received": 9, "seconds": 1.0}
    counts = {"asked": 30, "no_verdict": 0, "pairs": 15, "first_preferred": 0.5, "orders_disagree": 0.1}
    systems = {"compose/none/hybrid": row, "free/none/hybrid": row}
    old = {"judge": "ann", "prompt": "pairs", **counts, "systems": systems, "cost": cost}
    run.write_json("judge.json", old)
    assert "What a judge says" in (page := write(run)[0].read_text()) and "won by, against" not in page
    duels = {name: {**row, "against": {}} for name in systems}
    run.write_json("judge.json", {**old, "systems": duels})
    assert "won by, against" in write(run)[0].read_text()


async def test_one_system_and_no_scores_are_said_plainly(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"compose": GOOD})
    with pytest.raises(BadInput, match="evaluate score"):
        write(run)
    html, _ = write(await scored_run(tmp_path / "scored", {"compose": GOOD}))
    assert "only one system" in html.read_text()


async def test_compare_finds_what_got_worse_and_the_exit_code_says_so(tmp_path: Path) -> None:
    old = await scored_run(tmp_path / "old", {"compose": GOOD})
    new = await scored_run(tmp_path / "new", {"compose": BAD})
    assert {change.metric for change in compare(old, new, 0.02).regressions} == {"bleu", "chrf"}
    worse = CliRunner().invoke(PROGRAM, ["evaluate", "compare", str(old.path), str(new.path)])
    better = CliRunner().invoke(PROGRAM, ["evaluate", "compare", str(new.path), str(old.path)])
    assert (worse.exit_code, better.exit_code) == (1, 0)
    assert re.search(r"chrf .*WORSE", worse.output) and "WORSE" not in better.output


async def test_runs_of_other_posts_are_not_compared(tmp_path: Path) -> None:
    old = await scored_run(tmp_path / "old", {"compose": GOOD})
    new = await scored_run(tmp_path / "new", {"compose": GOOD[:5]})
    with pytest.raises(BadInput, match="different posts"):
        compare(old, new, 0.02)


def test_holm_corrects_for_the_number_of_tests() -> None:
    # 0.01 * 3, then 0.02 * 2, then 0.04 * 1, never below the one before.
    assert holm([0.02, 0.01, 0.04]) == pytest.approx([0.04, 0.03, 0.04])


def test_a_difference_is_told_from_chance() -> None:
    left = [0.5 + 0.01 * (number % 5) for number in range(30)]
    clear = paired(left, [value - 0.2 for value in left], seed=1)
    assert clear.p < 0.01 and clear.interval.mean == pytest.approx(0.2)
    noisy = paired(left, left[1:] + left[:1], seed=1)
    assert noisy.p > 0.5 and noisy.interval.low <= 0 <= noisy.interval.high
    assert interval([3.0], seed=1).low == interval([3.0, 3.0], seed=1).high == 3
