"""`rejoinder kb build`: make added documents searchable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from core.domain import Evidence
from core.errors import BadInput, KnowledgeBaseError
from core.settings import Settings
from rejoinder.commands.extras import needs_extra
from rejoinder.commands.kb_add import add
from rejoinder.commands.process import load_settings, run, start_logging

if TYPE_CHECKING:
    from kb.sync import SyncCounts

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
    help="Folder that `kb add` wrote, or that is to take PATH… in; default: `harvest` in the data folder.",
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
    folder = out or settings.kb.folder or settings.data_dir / "kb-built"
    source = harvest or settings.data_dir / "harvest"
    _refuse_to_empty(source, folder, named=harvest is not None and not paths)
    if paths:
        context.invoke(add, paths=paths, metadata=metadata, harvest=harvest)
    change = run(build_all(settings, source, folder, starter))
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


async def build_all(settings: Settings, harvest: Path, folder: Path, starter: bool) -> SyncCounts:
    """Bring the knowledge base up to date and return what changed. Raises KnowledgeBaseError."""
    with needs_extra("kb"):
        from kb.extract import Harvest
        from kb.extract.harvest import FILE
    from kb.starter import load_starter
    from kb.sync import sync
    from rejoinder.assembly import open_embedder

    shipped = [statement.evidence() for statement in load_starter()] if starter else []
    async with open_embedder(settings) as embedder:
        with (
            # A missing harvest is not created: the next build could not tell an empty one from a wrong folder.
            Harvest(harvest) if (harvest / FILE).is_file() else nullcontext() as harvested,
            Progress(*_COLUMNS, console=Console(stderr=True), transient=True) as progress,
        ):
            task = progress.add_task("Embedding", total=None)

            def show(done: int, total: int) -> None:
                progress.update(task, completed=done, total=total)

            def statements() -> Iterator[Evidence]:
                yield from shipped
                if harvested:
                    yield from harvested.evidence()

            return await sync(statements, embedder, folder, show)


def _refuse_to_empty(harvest: Path, folder: Path, *, named: bool) -> None:
    """Raise BadInput for a missing harvest if it was named or if documents' paragraphs would, or may, be removed."""
    with needs_extra("kb"):
        from kb.extract.harvest import FILE

    if (harvest / FILE).is_file():
        return
    if named:
        raise BadInput(
            f"There is no harvest in {harvest} ({FILE} is missing), so there are no documents to build from. "
            "Name the folder that `rejoinder kb add` wrote, or give PATH… and --metadata to begin one there."
        )
    if document := _some_paragraph_of_a_document(folder):
        raise BadInput(
            f"There is no harvest in {harvest}, but {folder} holds paragraphs of documents, such as {document}: they "
            "would all be removed. Name the folder that `rejoinder kb add` wrote with --harvest, or another --out."
        )


def _some_paragraph_of_a_document(folder: Path) -> str | None:
    """Return the id of a paragraph that is not a starter statement; only ids of documents' paragraphs contain #.

    Raises BadInput for a knowledge base that can't be read, such as one of another version: it may hold documents.
    """
    from kb.snapshot import Snapshot
    from kb.versions import POINTER

    try:
        snapshot = Snapshot.open(folder)
    except KnowledgeBaseError as error:
        if not (folder / POINTER).exists():
            return None
        raise BadInput(
            f"There is no harvest to build from, and {folder} may hold paragraphs of documents, which would be lost: "
            f"it can't be read ({str(error).rstrip('.')}). Name the folder that `rejoinder kb add` wrote with "
            f"--harvest, or delete {folder} to build the starter statements alone."
        ) from error
    with closing(snapshot):
        paragraphs = (paragraph for batch in snapshot.batches(1_000) for paragraph in snapshot.get(batch))
        return next((paragraph.id for paragraph in paragraphs if "#" in paragraph.id), None)
