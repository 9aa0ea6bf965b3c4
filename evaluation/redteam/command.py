"""`rejoinder guard`: judge drafts from a file, or the red team's."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import click

from core.domain import failed
from core.errors import BadInput
from evaluation.redteam.lines import BadLine, DraftLine, judge, read
from pipeline.guard import Guard, Verdict


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a draft.")
@click.option("--redteam", is_flag=True, help="Judge the red team's own drafts and print how many are stopped.")
@click.option("--wrong", is_flag=True, help="With --redteam: list what is misjudged in the half that is for tuning.")
def guard(file: Path | None, as_json: bool, redteam: bool, wrong: bool) -> None:
    """Judge the drafts in FILE, one JSON object a line: what is shown to a moderator, and what is stopped and why.

    A line has `id`, `language`, `groups`, `intent`, `post`, `evidence` (of `text`, `institution`, `title`, `symbol`,
    `year`) and `draft`. Lines that can't be read are named by their number, the others are judged, and the exit code
    is 1; a stopped draft is no error.
    """
    from rejoinder.assembly import open_drafting_guard
    from rejoinder.commands.process import load_settings

    if redteam == (file is not None) or (wrong and not redteam) or (as_json and redteam):
        raise click.UsageError("Give either a FILE (perhaps with --json) or --redteam (perhaps with --wrong).")
    opened = open_drafting_guard(load_settings())
    if file is None:
        _print_report(opened, wrong=wrong)
        return
    bad = asyncio.run(_judge_file(opened, file, as_json=as_json))
    if bad:
        raise BadInput(f"{bad} line{'' if bad == 1 else 's'} of {file} could not be judged; mend or remove them.")


async def _judge_file(opened: Guard, file: Path, *, as_json: bool) -> int:
    """Judge every draft of a file and return how many lines are no drafts."""
    bad = 0
    with file.open("rb") as lines:
        for entry in read(lines):
            if isinstance(entry, BadLine):
                bad += 1
                click.echo(f"{file}, line {entry.number}: {entry.message}.", err=True)
            else:
                verdict = await judge(opened, entry)
                click.echo(_as_json(entry, verdict) if as_json else _as_text(entry, verdict))
    return bad


def _as_json(draft: DraftLine, verdict: Verdict) -> str:
    checks = [check.model_dump(mode="json") for check in verdict.checks]
    return json.dumps({"id": draft.id, "passed": verdict.passes, "checks": checks}, ensure_ascii=False)


def _as_text(draft: DraftLine, verdict: Verdict) -> str:
    reasons = "; ".join(f"{check.name}: {check.detail}" for check in failed(verdict.checks))
    return f"{draft.id}: {'stopped, ' + reasons if reasons else 'passes'}"


def _print_report(opened: Guard, *, wrong: bool) -> None:
    from evaluation.redteam.report import judge_all, table
    from evaluation.redteam.sheets import red_team

    judged = asyncio.run(judge_all(opened, red_team()))
    for row in table(judged):
        click.echo(row)
    if wrong:
        for entry in judged:
            if entry.wrong and entry.draft.tuning:
                click.echo(entry.explanation())
