"""`rejoinder train pairs`: write moderators' decisions as files to train on."""

from __future__ import annotations

from pathlib import Path

import click

from core.settings import Settings
from rejoinder.commands.process import load_settings, run, start_logging


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder to write.")
@click.option("--min-raters", type=click.IntRange(1), default=3, show_default=True, help="Least number of moderators.")
def pairs(out: Path, min_raters: int) -> None:
    """Write moderators' decisions as examples, preferences and verdicts, with a data sheet.

    Reads the ledger of the settings. The same ledger gives the same bytes.
    """
    settings = load_settings()
    start_logging(settings)
    click.echo(run(_pairs(settings, out, min_raters)))


async def _pairs(settings: Settings, out: Path, least_raters: int) -> str:
    from core.private_files import private_folder
    from rejoinder.assembly import open_ledger
    from training.decisions.datasheet import FILE, data_sheet
    from training.decisions.gathering import gather, write

    async with open_ledger(settings) as ledger:
        gathered = await gather(ledger.decided_cases.all(), least_raters)
    private_folder(out)
    write(gathered, out)
    sheet = data_sheet(gathered, out, least_raters)
    (out / FILE).write_text(sheet, encoding="utf-8")
    return sheet
