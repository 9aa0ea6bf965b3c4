"""`rejoinder evaluate judge` and `compare`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from core.errors import BadInput
from evaluation.commands.shared import FILE, RUN, progress, tell_memory
from evaluation.run import RunFolder
from rejoinder.commands.extras import needs_extra
from rejoinder.commands.process import load_settings, start_logging


@click.command("judge")
@click.argument("run", type=RUN)
@click.option("--endpoint", metavar="URL", help="OpenAI-compatible server of the judge; unset: `chat.endpoint`.")
@click.option("--model", help="The judge's name there; unset: `chat.model`.")
@click.option("--prompt", type=click.Choice(["rubric", "judgelm"]), default="rubric", show_default=True)
@click.option("--most", type=click.IntRange(1), help="Compare that many pairs, drawn by the run's seed; unset: all.")
@click.option("--against", type=FILE, help="CSV of people's choices: post_id, left, right, preferred.")
def judge_command(
    run: Path, endpoint: str | None, model: str | None, prompt: str, most: int | None, against: Path | None
) -> None:
    """Let a model compare RUN's systems pair by pair, in both orders.

    With `--against` the judge is held against people, and nothing more is asked once all pairs have verdicts.
    """
    with needs_extra("evaluate"):
        from evaluation.judging.agreement import agreement, read_people
        from evaluation.judging.judge import judge, questions, verdicts_of
        from evaluation.judging.prompts import PROMPTS
        from evaluation.judging.tally import caution, pair_results, summary
    from models.chat import ChatClient

    settings = load_settings()
    start_logging(settings)
    folder = RunFolder.open(run)
    people = read_people(against) if against else None
    address, name = endpoint or settings.chat.endpoint, model or settings.chat.model
    if address is None:
        raise BadInput("There is no judge: give the address of an OpenAI-compatible server with --endpoint.")
    all_questions = questions(folder, most, folder.manifest().seed)
    if not all_questions:
        raise BadInput(f"{run} has no post that two systems answered, so there is nothing to compare.")

    async def ask() -> None:
        chat = settings.chat
        async with ChatClient(address, name, chat.api_key, chat.timeout_s, chat.attempts) as client:
            with progress(f"{name} judges", len(all_questions)) as advance:
                await judge(folder, client, PROMPTS[prompt], all_questions, advance)

    asyncio.run(ask())
    verdicts = verdicts_of(folder, name, prompt)
    figures = summary(verdicts, folder.manifest().seed)
    if people is not None:
        figures["agreement"] = agreement(pair_results(verdicts), people)
    folder.write_json("judge.json", figures)
    for line in _judgement_lines(figures, caution(figures)):
        click.echo(line)
    if people is not None:
        click.echo(_agreement_line(figures["agreement"], len(people)))
    tell_memory()


def _judgement_lines(figures: Mapping[str, Any], caution: str) -> Iterator[str]:
    """Yield a judge's findings for people to read: each system's record, and how much the order of drafts mattered."""
    for system, row in figures["systems"].items():
        record = f"{row['wins']} won, {row['losses']} lost, {row['ties']} tied"
        yield f"{system}: {record}; strength {row['strength']:+.2f}"
    yield f"{figures['no_verdict']} of {figures['asked']} answers held no verdict."
    if figures["first_preferred"] is not None and figures["orders_disagree"] is not None:
        yield (
            f"The draft shown first won {figures['first_preferred']:.0%} of the decided answers, and on "
            f"{figures['orders_disagree']:.0%} of {figures['pairs']} pairs the two orders disagree. {caution}"
        )


def _agreement_line(agreement: Mapping[str, Any], pairs: int) -> str:
    measures = ", ".join(f"{key} {agreement[key]}" for key in ("accuracy", "spearman", "kendall", "kappa"))
    return f"Against people on {agreement['pairs']} of their {pairs} pairs: {measures}."


@click.command("compare")
@click.argument("old", type=RUN)
@click.argument("new", type=RUN)
@click.option("--tolerance", default=0.02, show_default=True, help="Share of a metric's old value that it may lose.")
@click.pass_context
def compare_command(context: click.Context, old: Path, new: Path, tolerance: float) -> None:
    """Compare two scored runs of the same posts, system by system. The exit code is 1 when NEW is worse.

    Worse is a metric of drafts that lost more than the tolerance, with p < 0.05 after Holm's correction. Metrics that
    only a whole system has are left out: nothing tells their change from chance.
    """
    with needs_extra("evaluate"):
        from evaluation.comparison import compare
    comparison = compare(RunFolder.open(old), RunFolder.open(new), tolerance)
    for line in comparison.lines():
        click.echo(line)
    tell_memory()
    if comparison.regressions:
        context.exit(1)
