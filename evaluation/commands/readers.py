"""`rejoinder evaluate read`."""

from __future__ import annotations

from pathlib import Path

import click

from evaluation.commands.shared import FILE, RUN
from evaluation.reading.scores import agreement, as_markdown, by_system, read_verdicts
from evaluation.reading.sheets import FOLDER, KEY, read_key, write_sheets
from evaluation.run import RunFolder


@click.command("read")
@click.argument("run", type=RUN)
@click.option("--portion", default=150, show_default=True, type=click.IntRange(1), help="Most replies on a sheet.")
@click.option(
    "--collect", type=FILE, multiple=True, help="What a reader wrote, `READER-1.tsv`; repeatable, of two readers."
)
def read_command(run: Path, portion: int, collect: tuple[Path, ...]) -> None:
    """Write blind sheets of RUN for two readers, or with --collect print the table by system."""
    folder = RunFolder.open(run)
    if not collect:
        for sheet in write_sheets(folder, portion):
            click.echo(sheet)
        click.echo(f"What readers do: {run / FOLDER / 'instructions.md'}\nKeep to yourself: {run / KEY}")
        return
    key = read_key(folder)
    verdicts = read_verdicts(collect, key)
    click.echo(as_markdown(by_system(folder.drafts(), key, verdicts)))
    click.echo(f"Readers' r over all {len(key)} replies: {agreement(verdicts, key):.2f}")
