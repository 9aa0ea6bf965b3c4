"""`rejoinder train`: make the shipped weights, and learn from decisions. Commands that need an extra name it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from rejoinder.commands.extras import needs_extra
from rejoinder.commands.models import fetch
from rejoinder.commands.process import load_settings
from training.adapters.command import dpo, export_adapter, ppo, sft, try_adapter
from training.decisions.command import pairs
from training.ranking.command import rank
from training.reranking.command import reranker
from training.shipped import SHIPPED, standing

_FOLDER = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)
_HERE = Path(__file__).parents[1]
F = TypeVar("F", bound=Callable[..., Any])


def trains(name: str, *, data: str = "", data_required: bool = True, cached: bool = False) -> Callable[[F], F]:
    """Add the options that most commands share: `--out`, `--data` if `data` gives its help text, `--cache` if `cached`.

    `name` is a key of SHIPPED; `--out` is by default the folder of that file.
    """

    def decorate(command: F) -> F:
        out = SHIPPED[name].file
        options = [click.option("--out", type=_FOLDER, default=_HERE / out.parent, help=f"Where `{out.name}` goes.")]
        if data:
            options.append(click.option("--data", type=_FOLDER, required=data_required, help=data))
        if cached:
            cache = Path(tempfile.gettempdir()) / f"rejoinder-{name}-embeddings.npz"
            options.append(click.option("--cache", type=_FILE, default=cache, help="Keeps embeddings between runs."))
        for option in options:
            command = option(command)
        return command

    return decorate


def trains_into_checkout(data: str, cache: str, kept: str) -> Callable[[F], F]:
    """Add the options of commands whose files go to several folders: `--data`, `--root`, and `--cache`, a file.

    `data` and `kept` are help texts: what the folder holds, and what the file named `cache` keeps between runs.
    """

    def decorate(command: F) -> F:
        file = Path(tempfile.gettempdir()) / cache
        command = click.option("--cache", type=_FILE, default=file, help=f"Keeps {kept} between runs.")(command)
        root = "The checkout that the files are written into."
        command = click.option("--root", type=_FOLDER, default=_HERE, help=root)(command)
        return click.option("--data", type=_FOLDER, required=True, help=data)(command)

    return decorate


@click.group()
def train() -> None:
    """Train the small models that Rejoinder ships, and learn from what moderators decided; each gets a card."""


@train.command("list")
def list_shipped() -> None:
    """List what is shipped, whether its card is that of the file here, and what makes it anew."""
    for name, shipped in SHIPPED.items():
        click.echo(f"{name:17}{shipped.file!s:38}{standing(shipped, _HERE):24}{shipped.purpose}")


@train.command()
@trains("heads", data="Folder with `datasets` and `flags`.", cached=True)
@click.option("--claims", type=_FOLDER, default=_HERE / "kb" / "claims", help="Folder with the claim files.")
@click.option(
    "--picture",
    type=_FILE,
    default=_HERE / "docs" / "images" / "hate-reliability.png",
    help="Where the reliability plot of the hate head goes.",
)
def heads(data: Path, claims: Path, out: Path, cache: Path, picture: Path) -> None:
    """Train the heads of triage.

    Embeds about 47,000 texts and reads 18,000 of them token by token: 12 minutes of two cores the first time, 3 after
    that, from the cache (the tokens lie beside it, 340 MB).
    """
    with needs_extra("dev"):
        from training.heads.train import train_and_write
    click.echo(train_and_write(data, claims, out, cache, picture))


@train.command("post-layers")
@trains_into_checkout(
    "Folder with `datasets` and `flags`.",
    "rejoinder-post-layers.npz",
    "what the embedder's lower layers say, and the tuned layers,",
)
def post_layers(data: Path, root: Path, cache: Path) -> None:
    """Train the layers for posts, and the second opinions of triage and claims: after `heads`, `threats` and `claims`.

    Reads 70,000 texts (eight minutes of two cores, 1.3 GB of cache) and tunes for half an hour of one core.
    """
    with needs_extra("train"):
        from training.post_layers.train import train_and_write
    click.echo(train_and_write(data, root, cache))


@train.command("pair-layers")
@trains_into_checkout("Folder with `datasets`.", "rejoinder-pair-layers.npz", "what the embedder's lower layers say")
def pair_layers(data: Path, root: Path, cache: Path) -> None:
    """Train the layers that read a sentence of a reply beside its post or its evidence.

    Reads 31,000 pairs (eight minutes of two cores, 1.6 GB of cache) and tunes for half an hour of two cores.
    """
    with needs_extra("train"):
        from training.pair_layers.train import train_and_write
    click.echo(train_and_write(data, root, cache))


@train.command("post-reader")
@trains_into_checkout("Folder with `datasets` and `flags`.", "rejoinder-post-reader.pt", "the adapters")
def post_reader(data: Path, root: Path, cache: Path) -> None:
    """Train the larger model that reads posts again: after `heads`, `threats`, `claims` and `post-layers`.

    Fetches all-mpnet-base-v2 if it is not here. Tunes for 35 minutes of two quiet cores (four times as long without
    AVX512-BF16), and measures for ten.
    """
    with needs_extra("train"):
        from models.mpnet import NAME
        from training.post_reader.train import train_and_write
    model_file = fetch(load_settings(), NAME)
    click.echo(train_and_write(data, root, model_file, cache))


@train.command("pair-reader")
@trains_into_checkout("Folder with `datasets`.", "rejoinder-pair-reader.pt", "the adapters")
def pair_reader(data: Path, root: Path, cache: Path) -> None:
    """Train the larger model that reads sentences beside their post or evidence, in English: after `pair-layers`.

    Fetches all-mpnet-base-v2 if it is not here. Tunes for 40 minutes of two cores that multiply bfloat16 natively.
    """
    with needs_extra("train"):
        from models.mpnet import NAME
        from training.pair_reader.train import train_and_write
    model_file = fetch(load_settings(), NAME)
    click.echo(train_and_write(data, root, model_file, cache))


@train.command()
@trains("weighing")
def weighing(out: Path) -> None:
    """Fit the weights of the guard's checks, after everything that the guard reads with.

    Fetches all-mpnet-base-v2 if it is not here. Judges 3,000 drafts: ten minutes of two cores.
    """
    with needs_extra("dev"):
        from models.mpnet import NAME
        from training.weighing.train import train_and_write
    fetch(load_settings(), NAME)
    click.echo(train_and_write(out))


@train.command()
@trains("toxicity", data="Folder with the data sets, one folder each.")
@click.option("--rights", type=_FOLDER, help="Folder with human-rights treaties as Markdown.")
def toxicity(data: Path, rights: Path | None, out: Path) -> None:
    """Train the toxicity head of the guard."""
    with needs_extra("dev"):
        from training.toxicity.train import train_and_write
    click.echo(train_and_write(data, rights, out))


@train.command()
@trains("threats", data="Folder with `datasets` and `flags`.", cached=True)
def threats(data: Path, out: Path, cache: Path) -> None:
    """Train the threat head of triage: 5 minutes of two cores the first time, one after that."""
    with needs_extra("dev"):
        from training.threats.train import train_and_write
    click.echo(train_and_write(data, out, cache))


@train.command("self-harm")
@trains("self-harm", data="Folder with `datasets` and `flags`.", cached=True)
def self_harm(data: Path, out: Path, cache: Path) -> None:
    """Train the head of self-harm of triage: two minutes of two cores the first time, seconds after that."""
    with needs_extra("dev"):
        from training.self_harm.train import train_and_write
    click.echo(train_and_write(data, out, cache))


@train.command()
@trains(
    "stances",
    data="Folder with `datasets`; without it CrowdCounter's replies are left out.",
    data_required=False,
    cached=True,
)
def stances(data: Path | None, out: Path, cache: Path) -> None:
    """Train the stance head of the guard: 15 minutes of one busy core the first time, five after that."""
    with needs_extra("dev"):
        from training.stances.train import train_and_write
    click.echo(train_and_write(None if data is None else data / "datasets", out, cache))


@train.command()
@trains("fits", cached=True)
def fits(out: Path, cache: Path) -> None:
    """Train the head of the check `fits`: four minutes of one busy core the first time, two after that."""
    with needs_extra("dev"):
        from training.fits.train import train_and_write
    click.echo(train_and_write(out, cache))


@train.command("word-order")
@trains("word-order")
def word_order(out: Path) -> None:
    """Count which words follow which in the texts on file, for the check `garbled`; seconds."""
    from training.word_order import train_and_write

    click.echo(train_and_write(out))


@train.command()
@trains("claims", data="Folder with `datasets`.", cached=True)
def claims(data: Path, out: Path, cache: Path) -> None:
    """Train the judge of claims.

    Needed after a change of the claims' ids or labels; a minute of two cores.
    """
    with needs_extra("dev"):
        from training.claims.train import train_and_write
    click.echo(train_and_write(data, out, cache))


@train.command("argument-quality")
@trains("argument-quality", data="Folder with `datasets`.")
def argument_quality(data: Path, out: Path) -> None:
    """Train the head of the metric AQ: embeds 27,000 arguments, 5 minutes of two cores."""
    with needs_extra("dev"):
        from training.argument_quality.train import train_and_write
    click.echo(train_and_write(data, out))


@train.command("starter-vectors")
@trains("starter-vectors")
def starter_vectors(out: Path) -> None:
    """Embed the starter evidence anew.

    Needed after a change of its statements; embedding all of them takes a minute of two cores.
    """
    from training.starter_vectors import embed_and_write

    click.echo(embed_and_write(out))


@train.command("e5-graph")
@trains("e5-graph")
def e5_graph(out: Path) -> None:
    """Write the graph by which ONNX Runtime computes the embedder; it holds no weights."""
    with needs_extra("dev"):
        from training.e5_graph import write
    click.echo(write(out))


@train.command("mpnet-graph")
@trains("mpnet-graph")
def mpnet_graph(out: Path) -> None:
    """Write the graph by which ONNX Runtime computes all-mpnet-base-v2; it holds no weights."""
    with needs_extra("dev"):
        from training.mpnet_graph import write
    click.echo(write(out))


@train.command()
@click.option("--data", type=_FOLDER, required=True, help="Folder of CrowdCounter, with its Train.json and Test.json.")
@click.option("--out", type=_FOLDER, required=True, help="Folder to write, as `sft` reads it.")
@click.option("--most", type=click.IntRange(1), help="Examples to write, drawn by the seed; unset: all.")
@click.option("--unseen", type=click.IntRange(1), default=100, show_default=True, help="Posts to draft for afterwards.")
@click.option("--seed", default=1, show_default=True, help="Draws both.")
def crowdcounter(data: Path, out: Path, most: int | None, unseen: int, seed: int) -> None:
    """Write CrowdCounter's replies as examples for `sft`, and posts that it has not seen."""
    from training.crowdcounter import write

    click.echo(write(data, out, most, unseen, seed))


for command in (pairs, rank, reranker, sft, dpo, ppo, export_adapter, try_adapter):
    train.add_command(command)
