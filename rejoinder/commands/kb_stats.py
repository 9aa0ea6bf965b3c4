"""`rejoinder kb stats`: what the knowledge base holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from rejoinder.commands.common import load_settings, run, start_logging
from rejoinder.domain import TargetGroup
from rejoinder.errors import BadSettings
from rejoinder.settings import Settings

if TYPE_CHECKING:
    from kb.store import Holding


@click.command()
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw a picture into FILE (.png, .svg).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def stats(plot: Path | None, as_json: bool) -> None:
    """Count documents, paragraphs and average words by institution and group.

    A paragraph that speaks of two groups counts for both.
    """
    settings = load_settings()
    start_logging(settings)
    held = run(holdings(settings))
    if as_json:
        click.echo(json.dumps([asdict(one) for one in held]))
    else:
        Console().print(_table(held))
    if plot is not None:
        draw(held, plot)
        click.echo(f"Drawn into {plot}", err=as_json)


async def holdings(settings: Settings) -> list[Holding]:
    """Open the knowledge base and count; no model is loaded when it is built already."""
    from kb.build import ensure_starter
    from kb.snapshot import Snapshot
    from rejoinder.assembly import kb_folder, open_embedder

    folder = kb_folder(settings)
    if settings.kb.folder is None:
        async with open_embedder(settings) as embedder:
            await ensure_starter(folder, embedder)
    with closing(Snapshot.open(folder)) as snapshot:
        return snapshot.stats()


def draw(held: Sequence[Holding], path: Path) -> None:
    """Draw paragraphs by group, stacked by institution; raises BadSettings without matplotlib or for an odd suffix."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BadSettings(
            "A picture needs matplotlib. Install it with `pip install matplotlib`, or leave --plot out."
        ) from error
    groups, institutions = list(TargetGroup), sorted({one.institution for one in held})
    counts = {(one.institution, one.group): one.paragraphs for one in held}
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    left = [0] * len(groups)
    for institution in institutions:
        widths = [counts.get((institution, group), 0) for group in groups]
        axes.barh([group.value.replace("_", " ") for group in groups], widths, left=left, label=institution)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel("paragraphs")
    axes.legend(frameon=False, fontsize="small")
    try:
        figure.savefig(path)
    except (ValueError, OSError) as error:
        raise BadSettings(f"{path} can't be drawn: {error}. Give a writable path that ends in .png or .svg.") from error


def _table(held: Sequence[Holding]) -> Table:
    table = Table("institution", "group", box=None)
    for name in ("documents", "paragraphs", "average words"):
        table.add_column(name, justify="right")
    for one in held:
        table.add_row(one.institution, one.group.value, f"{one.documents:,}", f"{one.paragraphs:,}", f"{one.words:.1f}")
    return table
