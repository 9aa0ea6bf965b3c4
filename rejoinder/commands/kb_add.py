"""`rejoinder kb add`: add one's own documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rejoinder.commands.extras import needs_extra
from rejoinder.commands.process import load_settings, start_logging

if TYPE_CHECKING:
    from kb.extract import ExtractionReport, Limits, SourceDocument


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="PATH…")
@click.option(
    "--metadata",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV, JSON, JSON Lines or TOML with file, title, institution, symbol, year, url, groups, language.",
)
@click.option(
    "--harvest",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of what was extracted so far; default: `harvest` in the data folder.",
)
@click.option("--workers", type=click.IntRange(1, 64), help="Processes; default: one a core.")
@click.option(
    "--seconds", type=click.FloatRange(1), default=600.0, show_default=True, help="Time limit for a document."
)
@click.option("--memory", type=click.IntRange(512), default=3072, show_default=True, help="MiB a process may take.")
@click.option("--retry", is_flag=True, help="Read documents again that failed before.")
@click.pass_context
def add(
    context: click.Context,
    paths: tuple[Path, ...],
    metadata: Path,
    harvest: Path | None,
    workers: int | None,
    seconds: float,
    memory: int,
    retry: bool,
) -> None:
    """Take in PDF, HTML, DOCX, TXT, Markdown or JSON files, or folders of them.

    Run `rejoinder kb build` afterwards: it makes what was taken in searchable.
    """
    with needs_extra("kb"):
        from kb.extract import Limits
        from kb.extract.metadata_sheet import documents_of

    settings = load_settings()
    start_logging(settings)
    documents = documents_of(paths, metadata)
    limits = Limits(workers or Limits.workers, seconds, memory, retry)
    with needs_extra("kb"):
        report = take_in(documents, harvest or settings.data_dir / "harvest", limits)
    show(report)
    if report.failed == report.documents:
        context.exit(1)


def take_in(documents: list[SourceDocument], folder: Path, limits: Limits) -> ExtractionReport:
    """Extract documents into the harvest in `folder`, with a progress bar."""
    from kb.extract import Harvest, extract_documents

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar, Harvest(folder) as harvest:
        task = bar.add_task("Reading", total=len(documents))

        def advance(done: int, _total: int, _document: SourceDocument) -> None:
            bar.update(task, completed=done)

        return extract_documents(documents, advance, harvest=harvest, limits=limits)


def show(report: ExtractionReport) -> None:
    """Print what a run did, and its problems."""
    click.echo(
        f"{report.documents} documents ({report.unchanged} unchanged, {report.repeated_documents} repeated, "
        f"{report.failed} failed), {report.pages} PDF pages ({report.scanned_pages} by OCR), "
        f"{report.paragraphs} paragraphs ({report.folded} more repeat one of them), {report.seconds:.1f} s."
    )
    for problem in report.problems:
        click.echo(f"{'FAILED' if problem.fatal else 'note'}  {problem.document}: {problem.message}")
