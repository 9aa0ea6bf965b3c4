"""`rejoinder guard`: judge drafts from a file, or the red team's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import click

from core.domain import failed
from core.errors import BadInput
from core.settings import Settings
from evaluation.redteam.lines import BadLine, DraftLine, judge, read
from evaluation.redteam.report import Judged, judge_all, table
from pipeline.guard import Verdict


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a draft.")
@click.option("--redteam", is_flag=True, help="Judge the red team's own drafts and print how many are stopped.")
@click.option("--fresh", is_flag=True, help="The same for the sets of drafts that nothing was fitted to.")
@click.option("--wrong", is_flag=True, help="With --redteam: list what is misjudged in the half that is for tuning.")
@click.option(
    "--judge",
    "judge_name",
    type=click.Choice(["none", "head", "entailment", "chat"]),
    help="What judges free sentences, in place of `guard.judge`; `none`: words alone.",
)
def guard(file: Path | None, as_json: bool, redteam: bool, fresh: bool, wrong: bool, judge_name: str | None) -> None:
    """Judge the drafts in FILE, one JSON object a line: what is shown to a moderator, and what is stopped and why.

    A line has `id`, `language`, `groups`, `intent`, `post`, `evidence` (of `text`, `institution`, `title`, `symbol`,
    `year`) and `draft`. Lines that can't be read are named by their number, the others are judged, and the exit code
    is 1; a stopped draft is no error. The larger model that reads English is fetched if `guard.reread` is true.
    """
    from rejoinder.commands.models import fetch_larger_model
    from rejoinder.commands.process import load_settings

    if (file is not None) + redteam + fresh != 1 or (wrong and not redteam) or (as_json and file is None):
        raise click.UsageError("Give either a FILE (perhaps with --json), --redteam (perhaps with --wrong) or --fresh.")
    settings = load_settings()
    if judge_name is not None:
        chosen = settings.guard.model_copy(update={"judge": judge_name})
        settings = settings.model_copy(update={"guard": chosen})
    if settings.guard.reread and settings.guard.judge in ("head", "entailment"):
        fetch_larger_model(settings)
    if file is None:
        asyncio.run(_print_report(settings, fresh=fresh, wrong=wrong))
        return
    bad = asyncio.run(_judge_file(settings, file, as_json=as_json))
    if bad:
        raise BadInput(f"{bad} line{'' if bad == 1 else 's'} of {file} could not be judged; mend or remove them.")


async def _judge_file(settings: Settings, file: Path, *, as_json: bool) -> int:
    """Judge every draft in a file, and return the number of lines that are not valid drafts."""
    from rejoinder.guard_assembly import open_drafting_guard

    bad = 0
    async with open_drafting_guard(settings, _log_file(settings)) as opened:
        # One read of a small local file blocks the event loop only once; iterating over an open file would do so often.
        for entry in read(file.read_bytes().splitlines()):
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


async def _print_report(settings: Settings, *, fresh: bool, wrong: bool) -> None:
    from evaluation.redteam import sheets
    from rejoinder.guard_assembly import open_drafting_guard

    async with open_drafting_guard(settings, _log_file(settings)) as opened:
        if fresh:
            for name, when in sheets.FRESH.items():
                click.echo(f"## {name}.jsonl, {when}\n")
                _print_table(await judge_all(opened, sheets.fresh(name)))
            return
        judged = await judge_all(opened, sheets.red_team())
    _print_table(judged)
    if wrong:
        for entry in judged:
            if entry.wrong and entry.draft.tuning:
                click.echo(entry.explanation())


def _print_table(judged: Sequence[Judged]) -> None:
    for row in table(judged):
        click.echo(row)


def _log_file(settings: Settings) -> Path:
    return settings.data_dir / "logs" / "chat-server.log"
