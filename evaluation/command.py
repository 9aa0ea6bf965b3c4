"""`rejoinder evaluate`: measure drafts as the papers do. Each step reads and writes one run folder."""

from __future__ import annotations

import click

from evaluation.commands import comparisons, decisions, drafts, raters, readers, scores


@click.group()
def evaluate() -> None:
    """Measure drafts as the papers do: draft, score, let judges and people compare, report."""


for command in (
    drafts.generate_command,
    scores.score_command,
    drafts.report_command,
    drafts.all_command,
    comparisons.judge_command,
    comparisons.compare_command,
    raters.people_command,
    readers.read_command,
    decisions.live_command,
):
    evaluate.add_command(command)
