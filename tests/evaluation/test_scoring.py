"""Scoring a run: blind, in portions, and again from where it was interrupted."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from core.errors import BadInput
from evaluation.lines import append_lines
from evaluation.metrics.length import Length
from evaluation.metrics.metric import MetricCard, Value
from evaluation.records import Sample
from evaluation.scoring import PORTION, score
from tests.evaluation.runs import CHEAP, make_run, scored_run


class Watching(Length):
    """The metric of length, which keeps what it was shown and may break off."""

    card = MetricCard(**{**vars(Length.card), "name": "watching"})

    def __init__(self, *, breaks_after: int = 10**9) -> None:
        self.seen: list[Sample] = []
        self._breaks_after = breaks_after

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        if len(self.seen) >= self._breaks_after:
            raise KeyboardInterrupt
        self.seen += samples
        return await super().score(samples)


def ignore(steps: int) -> None:
    pass


async def test_metrics_never_see_which_system_wrote_a_draft(tmp_path: Path) -> None:
    metric = Watching()
    await score(make_run(tmp_path, {"compose": ["One."], "free": ["Two."]}), [metric], [], ignore)
    shown = json.dumps([sample.model_dump(mode="json") for sample in metric.seen])
    assert not any(name in shown for name in ("compose", "free", "hybrid", "writer", "system"))


async def test_an_interrupted_scoring_goes_on(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"compose": [f"Draft {number}." for number in range(PORTION + 10)]})
    with pytest.raises(KeyboardInterrupt):
        await score(run, [Watching(breaks_after=1)], [], ignore)
    assert not run.totals_path.exists()
    second = Watching()
    totals = await score(run, [second], [], ignore)
    assert len(second.seen) == 10
    assert totals["systems"]["compose/none/hybrid"]["values"]["watching"] == {"value": 2, "drafts": PORTION + 10}


async def test_empty_drafts_are_counted_and_not_scored(tmp_path: Path) -> None:
    run = await scored_run(tmp_path, {"compose": ["Some words here.", "", "More words here."]})
    total = run.totals()["systems"]["compose/none/hybrid"]
    assert (total["drafts"], total["empty"], total["values"]["length"]["drafts"]) == (3, 1, 2)
    assert [bool(scores.values) for scores in run.scores()] == [True, False, True]


async def test_a_run_without_drafts_says_what_to_do(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"compose": ["One."]})
    run.drafts_path.unlink()
    with pytest.raises(BadInput, match="evaluate generate"):
        await score(run, CHEAP, [], ignore)


async def test_a_draft_for_another_post_is_named(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"compose": ["One."]})
    stray = next(run.drafts()).model_copy(update={"post_id": "nowhere"})
    append_lines(run.drafts_path, [stray])
    with pytest.raises(BadInput, match="'nowhere'"):
        await score(run, CHEAP, [], ignore)


async def test_a_torn_line_in_the_middle_is_named(tmp_path: Path) -> None:
    run = make_run(tmp_path, {"compose": ["One.", "Two."]})
    first, second = run.drafts_path.read_bytes().splitlines(keepends=True)
    run.drafts_path.write_bytes(first[:30] + b"\n" + second)
    with pytest.raises(BadInput, match=r"drafts\.jsonl, line 1"):
        await score(run, CHEAP, [], ignore)


SCORE_AND_TELL_MEMORY = """
import asyncio, sys
from pathlib import Path
from evaluation.run import RunFolder
from evaluation.scoring import score
from tests.evaluation.runs import CHEAP
asyncio.run(score(RunFolder.open(Path(sys.argv[1])), CHEAP, [], lambda steps: None))
print(Path("/proc/self/status").read_text())
"""
"""A program: the peak of a process counts all that it did before, so that this one does nothing else."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process's memory is read from /proc")
def test_a_hundred_thousand_drafts_are_scored_in_bounded_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path, {"compose": ["Harbours are built by many hands."]})
    (draft,) = run.drafts()
    run.drafts_path.unlink()
    texts = (f"Harbour {number} was built by many hands." for number in range(10**5))
    append_lines(run.drafts_path, (draft.model_copy(update={"text": text}) for text in texts))
    program = [sys.executable, "-c", SCORE_AND_TELL_MEMORY, str(run.path)]
    child = subprocess.run(program, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    megabytes = int(child.stdout.split("VmHWM:")[1].split()[0]) / 1024
    with capsys.disabled():
        click.echo(f"\n100,000 drafts took {megabytes:,.0f} MB at most.")
    assert run.totals()["systems"]["compose/none/hybrid"]["drafts"] == 10**5
    assert megabytes < 1_200
