"""`rejoinder bench`: measure on this machine."""

from __future__ import annotations

import asyncio
import os
import platform
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from core.domain import StrategyName

if TYPE_CHECKING:
    from kb.claims.records import Language

_FOLDER = click.Path(path_type=Path)
_SCALES = (1_000_000, 3_000_000)


def _today() -> str:
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    return f"{datetime.now(UTC):%Y-%m-%d}, {machine}"


def _larger_model() -> Path | None:
    """Fetch the model that reads English once more; returns its file, or None where that fails."""
    from models import catalog, weights
    from models.mpnet import NAME
    from rejoinder.commands.models import fetch_larger_model
    from rejoinder.commands.process import load_settings

    settings, entry = load_settings(), catalog.find(NAME)
    fetch_larger_model(settings)
    return settings.weights_dir / entry.file if weights.installed(entry, settings.weights_dir) else None


@click.group()
def bench() -> None:
    """Measure speed, the evidence search, or replies, on this machine, and print tables."""


@bench.command()
@click.option("--posts", default=600, show_default=True, help="Posts for the throughput runs.")
@click.option(
    "--model", default="qwen2.5-coder-1.5b", show_default=True, help="Model for the first-draft run, or none."
)
@click.option(
    "--reread/--no-reread",
    default=True,
    show_default=True,
    help="Read posts with a larger model too; it is fetched.",
)
def speed(posts: int, model: str, reread: bool) -> None:
    """Measure throughput, start-up and memory; fetches the larger model unless --no-reread is given."""
    from evaluation.bench.speed import measure

    rows = asyncio.run(measure(posts, model, reread and _larger_model() is not None))
    click.echo(f"\n{_today()}\n")
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        click.echo(f"| {name:<{width}} | {value:>12} |")


@bench.command()
@click.option("--posts", default=50, show_default=True, type=click.IntRange(min=1), help="Posts in the queue.")
@click.option("--model", default="qwen2.5-coder-1.5b", show_default=True, help="Model that all of them ask.")
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    type=click.Choice([name.value for name in StrategyName]),
    default=("locked", "free", "compose"),
    help="Strategy to measure; repeatable.",
)
@click.option("--threads", default=0, type=click.IntRange(min=0), help="Threads of the model server; 0: all cores.")
@click.option(
    "--slots",
    multiple=True,
    type=click.IntRange(min=1),
    help="Slots of the model server; repeatable. Without it, chat.slots.",
)
@click.option(
    "--at-once", default=0, type=click.IntRange(min=0), help="Posts drafted for at once; 0: as many as the slots serve."
)
@click.option(
    "--weights",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="GGUF file to serve in place of the model's own, such as one of its shape with random weights.",
)
def drafts(
    posts: int, model: str, strategies: tuple[str, ...], threads: int, slots: tuple[int, ...], at_once: int,
    weights: Path | None,
) -> None:  # fmt: skip
    """Measure strategies beside the papers' sequential pipeline: drafts a minute, and tokens that a draft costs.

    The engine, its GPU and its caches are those of the settings (`chat.engine`, `chat.gpu_layers` …).
    """
    from evaluation.bench import drafting_speed

    names = [StrategyName(name) for name in strategies]
    with TemporaryDirectory(prefix="rejoinder-bench-") as folder:
        settings = drafting_speed.bench_settings(model, threads, Path(folder))
        costs = asyncio.run(drafting_speed.measure(posts, settings, names, slots, at_once, weights))
    served = f"{model} with the weights {weights.name}" if weights else model
    click.echo(f"\n{_today()}, {served}, a queue of {posts} posts, a warm server\n")
    click.echo(drafting_speed.table(costs))


@bench.command()
@click.option("--scale", multiple=True, type=int, default=_SCALES, help="Paragraphs of a synthetic one; repeatable.")
@click.option("--quick", is_flag=True, help="Measure hit rates alone.")
@click.option("--quality/--no-quality", default=True, help="Measure hit rates.")
@click.option("--chat", help="Base URL of a chat model's server: measures what it adds. Takes long.")
@click.option("--sbert", help="Folder of a sentence-transformers model.")
@click.option("--bge", help="Folder of BGE-M3.")
@click.option("--bge-reranker", help="Folder of a BGE reranker.")
@click.option(
    "--built", type=click.Path(exists=True, path_type=Path), help="Folder of a knowledge base that `kb build` made."
)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with `datasets`: the posts of the yardstick that are not written out here.",
)
@click.option("--folder", type=_FOLDER, help="Where the synthetic ones are built; kept when given.")
@click.option(
    "--reread/--no-reread",
    default=True,
    show_default=True,
    help="Read posts with a larger model too; it is fetched.",
)
def kb(
    scale: tuple[int, ...], quick: bool, quality: bool, chat: str | None, sbert: str | None, bge: str | None,
    bge_reranker: str | None, built: Path | None, data: Path | None, folder: Path | None, reread: bool,
) -> None:  # fmt: skip
    """Measure the evidence search: hit rates, an ablation, and speed at 1 and 3 million paragraphs.

    The million takes five minutes, three millions a quarter of an hour, and both 9 GB of disk; `--quick` leaves them
    out. The larger model is fetched unless --no-reread is given.
    """
    from evaluation.bench import kb as tables
    from evaluation.bench.kb_quality import Models

    models = None
    if quality:
        models = Models(sbert, bge, bge_reranker, chat, built, data, _larger_model() if reread else None)
    tables.run(() if quick else scale, models, folder)


@bench.command()
@click.option("--posts", default=200, show_default=True, type=click.IntRange(min=1), help="Posts with the same claim.")
@click.option("--platform", default="forum", show_default=True, help="Platform of the posts: its limit counts.")
@click.option("--language", default="en", show_default=True, type=click.Choice(["en", "es", "it", "eu"]))
def variety(posts: int, platform: str, language: Language) -> None:
    """Measure how often a campaign of posts with one common claim gets the same reply in words on file."""
    from evaluation.bench import variety as campaigns

    varieties = campaigns.measure(posts, platform, language)
    over = sum(variety.share > campaigns.MOST_OF_A_CAMPAIGN for variety in varieties)
    click.echo(campaigns.table(varieties))
    click.echo(f"\n{posts} posts a claim: the commonest reply's share, and how many replies differ.")
    click.echo(f"Over {campaigns.MOST_OF_A_CAMPAIGN:.0%}: {over} of {len(varieties)}.")


@bench.command()
@click.option("--cases", default=1_000_000, show_default=True, type=click.IntRange(min=100), help="Cases to fill in.")
@click.option("--database", default="sqlite", show_default=True, type=click.Choice(["sqlite", "postgres"]))
def ledger(cases: int, database: str) -> None:
    """Measure the ledger's queue, counts and statistics with many cases.

    A million takes some minutes and 2 GB of disk.
    """
    from evaluation.bench import ledger_scale

    rows = asyncio.run(ledger_scale.measure(cases, database))
    click.echo(f"\n{datetime.now(UTC):%Y-%m-%d}, {database}, {cases:,} cases of a year\n")
    click.echo(ledger_scale.table(rows))


@bench.command()
@click.option("--cases", default=500, show_default=True, type=click.IntRange(min=20), help="Cases to decide.")
@click.option("--unseen", default=200, show_default=True, type=click.IntRange(min=10), help="Posts to draft after it.")
@click.option("--seed", default=1, show_default=True)
def learning(cases: int, unseen: int, seed: int) -> None:
    """Rehearse `train pairs` and `train rank` with scripted moderators: how much more do they accept afterwards?

    Needs what `train rank` needs. 500 cases take a few minutes of two cores.
    """
    from evaluation.bench.learning import rehearse

    with tempfile.TemporaryDirectory() as folder:
        click.echo(asyncio.run(rehearse(Path(folder), cases, unseen, seed)).table())
