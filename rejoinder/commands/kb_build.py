"""`rejoinder kb build`: make documents that were taken in searchable."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import click

from rejoinder.commands.common import load_settings, run, start_logging
from rejoinder.settings import Settings


@click.command()
@click.option(
    "--harvest",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder that `kb add` wrote; default: `harvest` in the data folder.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the knowledge base; default: REJOINDER_KB__FOLDER, or `kb-built` in the data folder.",
)
@click.option("--starter/--no-starter", default=True, show_default=True, help="Put the starter statements in too.")
def build(harvest: Path | None, out: Path | None, starter: bool) -> None:
    """Index what `kb add` took in, together with the starter statements.

    Workers that search the folder go on with the new version at once.
    """
    settings = load_settings()
    start_logging(settings)
    folder = out or settings.kb.folder or settings.data_dir / "kb-built"
    paragraphs = run(build_all(settings, harvest or settings.data_dir / "harvest", folder, starter))
    click.echo(f"{paragraphs:,} paragraphs are searchable in {folder}")
    if settings.kb.folder != folder:
        click.echo(f"To search it: REJOINDER_KB__FOLDER={folder}")


async def build_all(settings: Settings, harvest: Path, folder: Path, starter: bool) -> int:
    """Build the knowledge base and return its size; raises KnowledgeBaseError."""
    from kb.build import build as build_kb
    from kb.extract import Harvest
    from kb.starter import load_starter
    from rejoinder.assembly import open_embedder

    with Harvest(harvest) as harvested:
        shipped = (statement.evidence() for statement in load_starter()) if starter else ()
        async with open_embedder(settings) as embedder:
            every = list(chain(shipped, harvested.evidence()))
            await build_kb(every, embedder, folder)
    return len(every)
