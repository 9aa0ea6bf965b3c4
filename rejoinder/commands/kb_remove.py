"""`rejoinder kb remove`: remove added documents."""

from __future__ import annotations

from pathlib import Path

import click

from core.errors import BadInput
from rejoinder.commands.extras import needs_extra
from rejoinder.commands.process import load_settings, start_logging


@click.command()
@click.argument("documents", nargs=-1, required=True, metavar="DOCUMENT…")
@click.option(
    "--harvest",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder that `kb add` wrote; default: `harvest` in the data folder.",
)
def remove(documents: tuple[str, ...], harvest: Path | None) -> None:
    """Take out documents that `kb add` took in.

    DOCUMENT is the `id` in the metadata sheet, or the `symbol` where the sheet gives no id; it stands before # in the
    ids of the document's paragraphs. Run `rejoinder kb build` afterwards: it takes them out of the knowledge base.
    """
    with needs_extra("kb"):
        from kb.extract import Harvest
        from kb.extract.harvest import FILE

    settings = load_settings()
    start_logging(settings)
    named = list(dict.fromkeys(documents))
    folder = harvest or settings.data_dir / "harvest"
    if not (folder / FILE).is_file():
        raise BadInput(
            f"There is no harvest in {folder} ({FILE} is missing), so there is nothing to take out. "
            "Name the folder that `rejoinder kb add` wrote with --harvest."
        )
    with Harvest(folder) as harvested:
        paragraphs = harvested.remove(named)
    click.echo(
        f"{len(named)} documents with {paragraphs} paragraphs taken out of the harvest. "
        "Run `rejoinder kb build` to take them out of the knowledge base too."
    )
