"""`rejoinder evaluate generate`, `report` and `all`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from core.domain import StrategyName
from core.settings import NO_MODEL, Settings
from evaluation.commands.scores import score_all
from evaluation.commands.shared import FILE, RUN, SEED, listed, progress, tell_memory
from evaluation.generate import (
    RETRIEVERS,
    STRATEGIES,
    asks_model,
    combinations,
    generate,
    reference_drafts,
    settings_of,
)
from evaluation.lines import append_lines
from evaluation.posts.reading import PostFile, read_posts
from evaluation.posts.shipped import shipped_posts, spread
from evaluation.records import REFERENCES, EvaluationPost, System
from evaluation.run import RunFolder
from rejoinder.commands.draft import prepare
from rejoinder.commands.extras import needs_extra
from rejoinder.commands.process import load_settings, start_logging

QUICK = (StrategyName.COMPOSE, StrategyName.LOCKED, StrategyName.PLAIN)
"""What `all` compares: replies from sentences on file, those with the least text by a model, and the papers' method."""
MODEL_POSTS = 8
"""Posts that a system with a chat model answers in `all`: each takes 4 to 40 s on two cores."""


@click.command("generate")
@click.argument("posts", type=FILE, required=False)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="The run's folder.")
@click.option(
    "--strategies", callback=listed, default="compose", show_default=True, help=f"Some of {', '.join(STRATEGIES)}."
)
@click.option("--models", callback=listed, help="Chat models by name; unset: the one of the settings.")
@click.option("--retrievers", callback=listed, help=f"Some of {', '.join(RETRIEVERS)}; unset: the one of the settings.")
@click.option("--limit", type=click.IntRange(1), help="Answer that many posts, spread over languages and groups.")
@click.option("--seed", default=SEED, show_default=True, help="Orders samples, judges' pairs and resampling.")
def generate_command(
    posts: Path | None,
    out: Path,
    strategies: Sequence[str],
    models: Sequence[str],
    retrievers: Sequence[str],
    limit: int | None,
    seed: int,
) -> None:
    """Draft an answer to each post of POSTS (.jsonl or .csv; without it the shipped ones) with every combination.

    The file has `text` and perhaps `id`, `language`, `groups`, `intent` and `references` (CSV: `reference`,
    `reference_2`, …). Run it again to go on after an interruption, or to add systems.
    """
    settings = load_settings()
    start_logging(settings)
    file = read_posts(posts) if posts else PostFile(posts=list(shipped_posts()))
    _tell(file)
    chosen = spread(file.posts, limit) if limit else file.posts
    systems = combinations(
        strategies, models or (settings.chat.model,), retrievers or (settings.kb.retriever,), settings
    )
    run = RunFolder.create(out, chosen, systems, seed, settings, file.rejected)
    draft_all(run, systems, chosen, settings)
    click.echo(f"{len(systems)} systems drafted for {len(chosen)} posts: {run.drafts_path}")


@click.command("report")
@click.argument("run", type=RUN)
def report_command(run: Path) -> None:
    """Write RUN's report.html and report.md; the same run gives the same bytes."""
    write_report(RunFolder.open(run))
    tell_memory()


@click.command("all")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default="evaluation-run", show_default=True,
    help="The run's folder.",
)  # fmt: skip
@click.option("--chat-model", metavar="NAME|none", help="Let this model draft too; `none`: words on file alone.")
@click.option("--seed", default=SEED, show_default=True, help="Orders samples, judges' pairs and resampling.")
def all_command(out: Path, chat_model: str | None, seed: int) -> None:
    """Draft, score and report on the shipped posts in one go; what was done before is not done again."""
    settings = load_settings()
    start_logging(settings)
    posts = shipped_posts()
    systems = combinations(QUICK, (chat_model or settings.chat.model,), (settings.kb.retriever,), settings)
    run = RunFolder.create(out, posts, systems, seed, settings)
    for system in systems:
        draft_all(run, (system,), spread(posts, MODEL_POSTS) if asks_model(system, settings) else posts, settings)
    score_all(run, settings)
    write_report(run)


def draft_all(run: RunFolder, systems: Sequence[System], posts: Sequence[EvaluationPost], settings: Settings) -> None:
    """Draft the posts that each system has not answered yet, and add the references as if a system had written them."""
    if not any(draft.system == REFERENCES for draft in run.drafts()):
        append_lines(run.drafts_path, reference_drafts(run.posts().values()))
    for system in systems:
        if system.model != NO_MODEL:
            prepare(settings_of(system, settings))
        with progress(system.name, len(posts)) as advance:
            asyncio.run(generate(run, system, posts, settings, advance))


def write_report(run: RunFolder) -> None:
    """Write a run's report and print its paths."""
    with needs_extra("evaluate"):
        from evaluation.report.page import write
    html, markdown = write(run)
    click.echo(f"The report: {html.resolve()}\nAs Markdown: {markdown.resolve()}")


def _tell(file: PostFile) -> None:
    """Print which lines of a file were rejected, and how many had to be re-encoded."""
    for line in file.rejected[:5]:
        click.echo(f"Line {line.line} is no post: {line.reason}.", err=True)
    if file.rejected:
        click.echo(f"{len(file.rejected)} lines are no posts; rejected.jsonl keeps them.", err=True)
    if file.reencoded:
        click.echo(f"{file.reencoded} lines are not UTF-8 and were read as Windows-1252; look at them.", err=True)
