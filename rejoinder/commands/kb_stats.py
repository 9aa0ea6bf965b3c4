"""`rejoinder kb stats`: what the knowledge base contains."""

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

from core.domain import TargetGroup
from core.errors import BadSettings
from core.settings import Settings
from rejoinder.commands.process import load_settings, run, start_logging

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    holdings = run(count_holdings(settings))
    if as_json:
        click.echo(json.dumps([asdict(holding) for holding in holdings]))
    else:
        Console().print(_table(holdings))
    if plot is not None:
        draw(holdings, plot)
        click.echo(f"Drawn into {plot}", err=as_json)


async def count_holdings(settings: Settings) -> list[Holding]:
    """Open the knowledge base and count; once it is built, no model is loaded."""
    from kb.snapshot import Snapshot
    from rejoinder.assembly import ensure_starter_indexed, kb_folder, open_embedder

    async with open_embedder(settings) as embedder:
        await ensure_starter_indexed(settings, embedder)
    with closing(Snapshot.open(kb_folder(settings))) as snapshot:
        return snapshot.stats()


def draw(holdings: Sequence[Holding], path: Path) -> None:
    """Draw the table as a chart. Raises BadSettings without matplotlib or for an unusable path."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BadSettings(
            "A picture needs matplotlib. Install it with `pip install matplotlib`, or leave --plot out."
        ) from error
    figure = Figure(figsize=(12, 6), layout="constrained")
    _panels(figure, holdings)
    try:
        figure.savefig(path, dpi=120)
    except (ValueError, OSError) as error:
        raise BadSettings(f"{path} can't be drawn: {error}. Give a writable path that ends in .png or .svg.") from error


def _panels(figure: Figure, holdings: Sequence[Holding]) -> None:
    """Fill a figure with documents and paragraphs, stacked by institution, and dots for the average words."""
    groups, institutions = list(TargetGroup), sorted({holding.institution for holding in holdings})
    documents, paragraphs, words = figure.subplots(1, 3, sharey=True)
    ends = {documents: [0] * len(groups), paragraphs: [0] * len(groups)}
    for place, institution in enumerate(institutions):
        mine = {holding.group: holding for holding in holdings if holding.institution == institution}
        for axes, name in ((documents, "documents"), (paragraphs, "paragraphs")):
            widths = [getattr(mine.get(group), name, 0) for group in groups]
            axes.barh(range(len(groups)), widths, left=ends[axes], color=f"C{place}")
            ends[axes] = [end + width for end, width in zip(ends[axes], widths, strict=True)]
        # Dots are spread vertically within a group's row, so that none hides another.
        lane = 0.7 * ((place + 0.5) / len(institutions) - 0.5)
        rows = [groups.index(group) + lane for group in mine]
        words.plot([holding.words for holding in mine.values()], rows, "o", color=f"C{place}", label=institution)
    for axes, title in ((documents, "documents"), (paragraphs, "paragraphs"), (words, "average words of a paragraph")):
        axes.set_title(title)
        axes.set_xlim(0, 1.02 * axes.get_xlim()[1])
        axes.set_axisbelow(True)
        axes.grid(axis="x", alpha=0.3)
    for row in range(1, len(groups)):
        words.axhline(row - 0.5, color="0.85", linewidth=1)
    documents.set_yticks(range(len(groups)), [group.value.replace("_", " ") for group in groups])
    documents.invert_yaxis()
    # Below the panels, where it covers nothing, however many institutions there are.
    figure.legend(loc="outside lower center", ncols=3, frameon=False)


def _table(holdings: Sequence[Holding]) -> Table:
    table = Table("institution", "group", box=None)
    for name in ("documents", "paragraphs", "average words"):
        table.add_column(name, justify="right")
    for holding in holdings:
        counts = (f"{holding.documents:,}", f"{holding.paragraphs:,}", f"{holding.words:.1f}")
        table.add_row(holding.institution, holding.group.value, *counts)
    return table
