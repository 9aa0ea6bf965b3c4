"""`rejoinder kb crawl`: fetch the institutions' documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from core.domain import TargetGroup, now
from core.errors import BadInput
from rejoinder.commands.extras import needs_extra
from rejoinder.commands.process import load_settings, run, start_logging

if TYPE_CHECKING:
    from kb.sources import CrawlOrder, CrawlReport, DocumentStore

_THIS_YEAR = now().year


def _words(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Parse a list given as several options, or separated by commas in one."""
    return tuple(dict.fromkeys(word.strip() for value in values for word in value.split(",") if word.strip()))


@click.command()
@click.argument("source", type=click.Choice(["un", "eurlex", "fra"]))
@click.option("--groups", multiple=True, callback=_words, help="Target groups, comma-separated; default: all.")
@click.option("--from", "first", type=click.IntRange(1945, 2100), default=2000, show_default=True, help="First year.")
@click.option("--to", "last", type=click.IntRange(1945, 2100), default=_THIS_YEAR, help="Last year; default: this one.")
@click.option("--types", multiple=True, callback=_words, help="Document types, comma-separated; default: the usual.")
@click.option("--max", "most", type=click.IntRange(1), help="Stop after so many new documents.")
@click.option("--language", default="en", show_default=True, help="Language of the texts, ISO 639-1.")
@click.option(
    "--only",
    multiple=True,
    callback=_words,
    help="Just these: UN Digital Library record numbers, CELEX "
    "numbers, or FRA publications (`2023/being-black-eu`); nothing is searched for.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the documents; default: `documents` in the data folder.",
)
@click.option("--contact", default="", help="Address or page by which a server's operator can reach you.")
@click.option("--retry", is_flag=True, help="Ask again for what was refused for good before, and list anew.")
@click.pass_context
def crawl(
    context: click.Context,
    source: str,
    groups: tuple[str, ...],
    first: int,
    last: int,
    types: tuple[str, ...],
    most: int | None,
    language: str,
    only: tuple[str, ...],
    out: Path | None,
    contact: str,
    retry: bool,
) -> None:
    """Fetch documents of the UN, of EU law (eurlex) or of the EU Agency for Fundamental Rights (fra).

    Interrupted or not, the next run goes on where this one ended. Take the documents in with
    `rejoinder kb add FOLDER --metadata FOLDER/manifest.jsonl`.
    """
    with needs_extra("kb"):
        from kb.sources import CrawlReport, DocumentStore

    settings = load_settings()
    start_logging(settings)
    order = _order(source, groups, first, last, types, most, language, only)
    folder, tally = out or settings.data_dir / "documents", CrawlReport()
    with DocumentStore(folder) as store:
        if retry:
            store.reopen(source)
        try:
            run(_crawl(source, store, order, tally, contact))
        except KeyboardInterrupt:
            tally.stopped = "interrupted"
        finally:
            show(tally, folder)
    if tally.stopped == "interrupted":
        context.exit(130)
    if (tally.refused or tally.stopped) and not tally.stored + tally.repeated:
        context.exit(1)


def _order(
    source: str,
    groups: tuple[str, ...],
    first: int,
    last: int,
    types: tuple[str, ...],
    most: int | None,
    language: str,
    only: tuple[str, ...],
) -> CrawlOrder:
    from kb.sources import SOURCES, CrawlOrder

    _known("groups", groups, [group.value for group in TargetGroup])
    _known("types", types, SOURCES[source].types)
    _known("language", (language,), SOURCES[source].languages)
    if first > last:
        raise BadInput(f"--from {first} is after --to {last}. Turn them round.")
    return CrawlOrder(
        groups=tuple(TargetGroup(group) for group in groups) or tuple(TargetGroup),
        first=first,
        last=last,
        types=types or SOURCES[source].usual_types,
        most=most,
        language=language,
        only=only,
    )


def _known(option: str, given: tuple[str, ...], known: tuple[str, ...] | list[str]) -> None:
    if unknown := [word for word in given if word not in known]:
        raise BadInput(f"--{option} does not know {', '.join(unknown)}. It knows {', '.join(known)}.")


async def _crawl(source: str, store: DocumentStore, order: CrawlOrder, tally: CrawlReport, contact: str) -> None:
    from kb.sources import crawl as fetch_all
    from kb.sources import open_source

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        listing = bars.add_task("Looking", total=None, note="")
        fetching = bars.add_task("Fetching", total=order.most, note="")
        async with open_source(source, contact) as opened:
            await fetch_all(
                opened, store, order, tally, on_change=lambda so_far: _move(bars, listing, fetching, so_far)
            )


def _move(bars: Progress, listing: TaskID, fetching: TaskID, tally: CrawlReport) -> None:
    bars.update(listing, completed=tally.steps, total=tally.steps_total, note=f"{tally.found} found")
    done = tally.stored + tally.repeated
    bars.update(fetching, completed=done, note=f"{tally.wanted} wanted, {tally.refused.total()} refused")


def show(tally: CrawlReport, folder: Path) -> None:
    """Print what a crawl stored, and what it refused as documents."""
    click.echo(
        f"{tally.stored} documents stored in {folder}, {tally.repeated} already there under another name, "
        f"{tally.left} left for the next run."
    )
    for kind, count in tally.refused.most_common():
        click.echo(f"{count:>6}  {kind}")
        for example in tally.examples[kind]:
            click.echo(f"        {example}")
    if tally.stopped:
        click.echo(f"The listing is not whole: {tally.stopped}. Run the same command again to go on.")
