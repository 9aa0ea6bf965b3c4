"""`rejoinder models`: list, fetch and verify weights."""

from __future__ import annotations

import re
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table

from core.errors import BadInput, WeightsError
from core.settings import Settings
from rejoinder.commands.process import load_settings, run


@click.group()
def models() -> None:
    """List, fetch and check model weights."""


@models.command("list")
def list_() -> None:
    """List the models of the catalog."""
    from models import catalog, weights

    settings = load_settings()
    table = Table("name", "what it is", "memory", "here")
    for entry in catalog.entries():
        installed = "yes" if weights.installed(entry, settings.weights_dir) else "no"
        memory = f"{entry.memory(settings.chat) / 1e9:.1f} GB"
        table.add_row(entry.name + (" (default)" if entry.default else ""), entry.summary, memory, installed)
    Console().print(table)


@models.command()
@click.argument("name")
@click.option("--sha256", help="The file's hash, for a model of which none is on record.")
def pull(name: str, sha256: str | None) -> None:
    """Fetch the weights of NAME; goes on where an earlier fetch was cut."""
    path = fetch(load_settings(), name, sha256)
    click.echo(f"{name} is at {path}")


@models.command()
@click.argument("name")
def verify(name: str) -> None:
    """Hash the weights of NAME and compare with what was published."""
    from models import catalog, weights

    result = weights.verify(catalog.find(name), load_settings().weights_dir)
    click.echo(f"{name}: {result}")


def fetch_larger_model(settings: Settings) -> None:
    """Fetch the model that reads English posts and drafts again; if it can't be fetched, say so and go on."""
    from models.mpnet import NAME

    try:
        fetch(settings, NAME)
    except WeightsError as error:
        click.echo(f"{error}\nEnglish is read by the small models alone for now.", err=True)


def fetch(settings: Settings, name: str, sha256: str | None = None) -> Path:
    """Fetch weights with a progress bar unless installed. Raises WeightsError, or BadInput for a wrong hash."""
    from models import catalog, weights

    entry = catalog.find(name)
    if sha256 is not None:
        if not re.fullmatch("[0-9a-f]{64}", sha256) or entry.sha256 not in (None, sha256):
            raise BadInput(f"{sha256[:80]!r} is no sha256 in hexadecimal, or not the one on record for {name}.")
        entry = entry.model_copy(update={"sha256": sha256})
    if weights.installed(entry, settings.weights_dir):
        return settings.weights_dir / entry.file
    columns = (
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(f"fetching {name}", total=entry.size)
        return run(
            weights.pull(
                entry,
                settings.weights_dir,
                settings.weights.source,
                lambda done, total: bar.update(task, completed=done, total=total),
            )
        )
