"""`rejoinder train`: make the arrays that Rejoinder ships. What learns needs scikit-learn (the `dev` extra)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from rejoinder.commands.extras import needs_extra

_FOLDER = click.Path(file_okay=False, path_type=Path)
_HERE = Path(__file__).parents[1]


@click.group()
def train() -> None:
    """Train the small models that Rejoinder ships, and write their model cards."""


@train.command()
@click.option("--data", type=_FOLDER, required=True, help="Folder with `datasets` and `flags`.")
@click.option("--claims", type=_FOLDER, default=_HERE / "kb" / "claims", help="Folder with the claim files.")
@click.option("--out", type=_FOLDER, default=_HERE / "pipeline" / "data", help="Where `heads.npz` and its cards go.")
@click.option(
    "--cache",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path(tempfile.gettempdir()) / "rejoinder-heads-embeddings.npz",
    help="File that keeps embeddings between runs.",
)
@click.option(
    "--picture",
    type=click.Path(dir_okay=False, path_type=Path),
    default=_HERE / "docs" / "images" / "hate-reliability.png",
    help="Where the reliability plot of the hate head goes.",
)
def heads(data: Path, claims: Path, out: Path, cache: Path, picture: Path) -> None:
    """Train the heads of triage.

    Embeds about 42,000 texts: 8 minutes of two cores the first time, seconds after that, from the cache.
    """
    with needs_extra("dev"):
        from training.heads.train import train_and_write
    click.echo(train_and_write(data, claims, out, cache, picture))


@train.command()
@click.option("--data", type=_FOLDER, required=True, help="Folder with the data sets, one folder each.")
@click.option("--rights", type=_FOLDER, help="Folder with human-rights treaties as Markdown.")
@click.option("--out", type=_FOLDER, default=_HERE / "models" / "data", help="Where `toxicity.npz` and its card go.")
def toxicity(data: Path, rights: Path | None, out: Path) -> None:
    """Train the toxicity head of the guard."""
    with needs_extra("dev"):
        from training.toxicity.train import train_and_write
    click.echo(train_and_write(data, rights, out))


@train.command()
@click.option("--data", type=_FOLDER, required=True, help="Folder with `datasets` and `flags`.")
@click.option("--out", type=_FOLDER, default=_HERE / "pipeline" / "data", help="Where `threat.npz` and its card go.")
@click.option(
    "--cache",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path(tempfile.gettempdir()) / "rejoinder-threats-embeddings.npz",
    help="File that keeps embeddings between runs.",
)
def threats(data: Path, out: Path, cache: Path) -> None:
    """Train the threat head of triage: 5 minutes of two cores the first time, one after that."""
    with needs_extra("dev"):
        from training.threats.train import train_and_write
    click.echo(train_and_write(data, out, cache))


@train.command()
@click.option("--data", type=_FOLDER, help="Folder with `datasets`; without it CrowdCounter's replies are left out.")
@click.option("--out", type=_FOLDER, default=_HERE / "pipeline" / "data", help="Where `stance.npz` and its card go.")
@click.option(
    "--cache",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path(tempfile.gettempdir()) / "rejoinder-stances-embeddings.npz",
    help="File that keeps embeddings between runs.",
)
def stances(data: Path | None, out: Path, cache: Path) -> None:
    """Train the stance head of the guard: 8 minutes of two cores the first time, one after that."""
    with needs_extra("dev"):
        from training.stances.train import train_and_write
    click.echo(train_and_write(None if data is None else data / "datasets", out, cache))


@train.command()
@click.option("--data", type=_FOLDER, required=True, help="Folder with `datasets`.")
@click.option("--out", type=_FOLDER, default=_HERE / "kb" / "data", help="Where `matching.npz` and its card go.")
@click.option(
    "--cache",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path(tempfile.gettempdir()) / "rejoinder-claims-embeddings.npz",
    help="File that keeps embeddings between runs.",
)
def claims(data: Path, out: Path, cache: Path) -> None:
    """Train the judge of claims.

    Needed after a change of the claims' ids or labels; a minute of two cores.
    """
    with needs_extra("dev"):
        from training.claims.train import train_and_write
    click.echo(train_and_write(data, out, cache))


@train.command("argument-quality")
@click.option("--data", type=_FOLDER, required=True, help="Folder with `datasets`.")
@click.option("--out", type=_FOLDER, default=_HERE / "evaluation" / "data", help="Where the head and its card go.")
def argument_quality(data: Path, out: Path) -> None:
    """Train the head of the metric AQ: embeds 27,000 arguments, 5 minutes of two cores."""
    with needs_extra("dev"):
        from training.argument_quality.train import train_and_write
    click.echo(train_and_write(data, out))


@train.command("starter-vectors")
@click.option("--out", type=_FOLDER, default=_HERE / "kb" / "data", help="Where `starter_vectors.npz` goes.")
def starter_vectors(out: Path) -> None:
    """Embed the starter evidence anew.

    Needed after a change of its statements; embedding all of them takes a minute of two cores.
    """
    from training.starter_vectors import embed_and_write

    click.echo(embed_and_write(out))


@train.command("e5-graph")
@click.option("--out", type=_FOLDER, default=_HERE / "models" / "data", help="Where `e5.onnx` goes.")
def e5_graph(out: Path) -> None:
    """Write the graph by which ONNX Runtime computes the embedder; it holds no weights."""
    with needs_extra("dev"):
        from training.e5_graph import write
    click.echo(write(out))
