"""`rejoinder evaluate generate`, `score`, `report` and `all`."""

from __future__ import annotations

import asyncio
import resource
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.domain import StrategyName
from core.settings import NO_MODEL, Settings
from evaluation.commands.shared import FILE, RUN, SEED, listed, progress
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
from models.entailment import Entailment
from rejoinder.commands.draft import prepare
from rejoinder.commands.extras import needs_extra
from rejoinder.commands.process import load_settings, start_logging

if TYPE_CHECKING:
    from evaluation.metrics.toolbox import Toolbox

QUICK = (StrategyName.COMPOSE, StrategyName.LOCKED, StrategyName.PLAIN)
"""What `all` compares: words on file, the least that a model writes, and the papers' own way."""
MODEL_POSTS = 8
"""Posts that a system with a chat model answers in `all`: 4 to 40 s each on two cores."""


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


@click.command("score")
@click.argument("run", type=RUN)
@click.option("--metrics", callback=listed, help="Names of metrics, as in scores.json; unset: all.")
@click.option("--wordnet", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of WordNet.")
@click.option(
    "--entailment", metavar="URL|FOLDER", help="A chat model's server or an ONNX model's folder: judges entailment."
)
@click.option("--entailment-model", default="default", show_default=True, help="The chat model's name there.")
def score_command(
    run: Path, metrics: Sequence[str], wordnet: Path | None, entailment: str | None, entailment_model: str
) -> None:
    """Score every draft and every system of RUN."""
    settings = load_settings()
    start_logging(settings)
    score_all(RunFolder.open(run), settings, metrics, wordnet, entailment, entailment_model)


@click.command("report")
@click.argument("run", type=RUN)
def report_command(run: Path) -> None:
    """Write RUN's report.html and report.md; the same run gives the same bytes."""
    write_report(RunFolder.open(run))


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
    """Draft what each system owes, and enter the references as if they were a system's."""
    if not any(draft.system == REFERENCES for draft in run.drafts()):
        append_lines(run.drafts_path, reference_drafts(run.posts().values()))
    for system in systems:
        if system.model != NO_MODEL:
            prepare(settings_of(system, settings))
        with progress(system.name, len(posts)) as advance:
            asyncio.run(generate(run, system, posts, settings, advance))


def score_all(
    run: RunFolder,
    settings: Settings,
    metrics: Sequence[str] = (),
    wordnet: Path | None = None,
    entailment: str | None = None,
    entailment_model: str = "default",
) -> None:
    """Score a run, and say what is missing and how much memory it took."""
    with needs_extra("evaluate"):
        from evaluation.metrics.toolbox import open_metrics
        from evaluation.scoring import score
    named = entailment_model if "://" in (entailment or "") else entailment or ""

    async def measure() -> tuple[Toolbox, dict[str, Any]]:
        async with _open_entailment(entailment, entailment_model, settings) as judge:
            toolbox = open_metrics(
                settings, only=metrics, wordnet=wordnet, entailment=judge, entailment_judge=named,
                seed=run.manifest().seed,
            )  # fmt: skip
            for sentence in toolbox.missing:
                click.echo(sentence, err=True)
            with progress("scoring", None) as advance:
                return toolbox, await score(run, toolbox.metrics, toolbox.missing, advance)

    toolbox, totals = asyncio.run(measure())
    drafts = sum(total["drafts"] for total in totals["systems"].values())
    click.echo(f"{drafts:,} drafts scored by {len(toolbox.metrics)} metrics: {run.totals_path}")
    click.echo(f"At most {_peak_megabytes():,.0f} MB of memory were used.")


@asynccontextmanager
async def _open_entailment(where: str | None, model: str, settings: Settings) -> AsyncIterator[Entailment | None]:
    """Give a judge of entailment, by a chat model at an address or an ONNX model in a folder; None for nowhere."""
    from models.chat import ChatClient
    from models.entailment import ChatEntailment, OnnxEntailment

    chat = settings.chat
    if where is None:
        yield None
    elif "://" in where:
        async with ChatClient(where, model, chat.api_key, chat.timeout_s, chat.attempts) as client:
            yield ChatEntailment(client, chat.slots)
    else:
        yield OnnxEntailment.open(settings.guard.model_copy(update={"entailment_model": where}))


def write_report(run: RunFolder) -> None:
    """Write a run's report and say where it lies."""
    with needs_extra("evaluate"):
        from evaluation.report.page import write
    html, markdown = write(run)
    click.echo(f"The report: {html.resolve()}\nAs Markdown: {markdown.resolve()}")


def _peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10)


def _tell(file: PostFile) -> None:
    """Say what of a file could not be taken as it was."""
    for line in file.rejected[:5]:
        click.echo(f"Line {line.line} is no post: {line.reason}.", err=True)
    if file.rejected:
        click.echo(f"{len(file.rejected)} lines are no posts; rejected.jsonl keeps them.", err=True)
    if file.reencoded:
        click.echo(f"{file.reencoded} lines are not UTF-8 and were read as Windows-1252; look at them.", err=True)
