"""`rejoinder kb build`: make documents that were taken in searchable."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rejoinder.commands.common import load_settings, run, start_logging
from rejoinder.commands.extras import needs_extra
from rejoinder.commands.kb_add import add
from rejoinder.settings import Settings

if TYPE_CHECKING:
    from kb.sync import Change

_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path), metavar="[PATH…]")
@click.option(
    "--metadata",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The sheet that describes the files in PATH…, as for `kb add`.",
)
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
@click.pass_context
def build(
    context: click.Context,
    paths: tuple[Path, ...],
    metadata: Path | None,
    harvest: Path | None,
    out: Path | None,
    starter: bool,
) -> None:
    """Index what `kb add` took in, together with the starter statements; files in PATH… are taken in first.

    Only what is new or changed is embedded, and an interrupted run goes on where it was. Workers that search the folder
    go on with the new version at once.
    """
    settings = load_settings()
    start_logging(settings)
    if bool(paths) != bool(metadata):
        raise click.UsageError("PATH… and --metadata belong together: the sheet says what the files are.")
    if paths:
        context.invoke(add, paths=paths, metadata=metadata, harvest=harvest)
    folder = out or settings.kb.folder or settings.data_dir / "kb-built"
    change = run(build_all(settings, harvest or settings.data_dir / "harvest", folder, starter))
    click.echo(
        f"{change.put + change.kept:,} paragraphs are searchable in {folder}: {change.put:,} put, "
        f"{change.removed:,} removed, {change.kept:,} kept as they were"
    )
    if change.skipped:
        left_out, kept = next(iter(change.skipped.items()))
        count = f"{len(change.skipped):,} skipped"
        click.echo(f"{count}, because another has the same text, such as {left_out} (see {kept})")
    if settings.kb.folder != folder:
        click.echo(f"To search it: REJOINDER_KB__FOLDER={folder}")


async def build_all(settings: Settings, harvest: Path, folder: Path, starter: bool) -> Change:
    """Bring the knowledge base up to date and say what changed; raises KnowledgeBaseError."""
    with needs_extra("kb"):
        from kb.extract import Harvest
    from kb.starter import load_starter
    from kb.sync import sync
    from rejoinder.assembly import open_embedder

    shipped = [statement.evidence() for statement in load_starter()] if starter else []
    async with open_embedder(settings) as embedder:
        with (
            Harvest(harvest) as harvested,
            Progress(*_COLUMNS, console=Console(stderr=True), transient=True) as progress,
        ):
            task = progress.add_task("Embedding", total=None)

            def show(done: int, wanted: int) -> None:
                progress.update(task, completed=done, total=wanted)

            return await sync(lambda: chain(shipped, harvested.evidence()), embedder, folder, show)
