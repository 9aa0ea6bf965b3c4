"""`rejoinder kb`: the evidence."""

from __future__ import annotations

import json

import click
from rich.console import Console

from rejoinder.commands.common import load_settings, run, start_logging
from rejoinder.commands.kb_add import add
from rejoinder.commands.kb_build import build
from rejoinder.commands.kb_crawl import crawl
from rejoinder.commands.kb_stats import stats
from rejoinder.commands.kb_summarise import summarise
from rejoinder.domain import Evidence, TargetGroup
from rejoinder.settings import Settings


@click.group()
def kb() -> None:
    """Search and build the knowledge base."""


for command in (crawl, add, build, stats, summarise):
    kb.add_command(command)


@kb.command()
@click.argument("query")
@click.option("--group", "groups", multiple=True, type=click.Choice([group.value for group in TargetGroup]))
@click.option("-k", "count", type=click.IntRange(1, 50), help="How many statements.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def search(query: str, groups: tuple[str, ...], count: int | None, as_json: bool) -> None:
    """Find the evidence that answers QUERY best."""
    settings = load_settings()
    start_logging(settings)
    found = run(find(settings, query, [TargetGroup(group) for group in groups], count))
    if as_json:
        click.echo(json.dumps([item.model_dump(mode="json") for item in found]))
        return
    console = Console()
    for number, item in enumerate(found, start=1):
        source = item.source
        console.print(f"[{number}] {item.text}", highlight=False, markup=False)
        where = f"    {source.institution}: {source.title}, {source.symbol}, {source.locator} ({source.year})"
        console.print(f"{where} · {item.score:.3f}\n    {source.url}", style="dim", highlight=False, markup=False)
    if not found:
        console.print("No fitting evidence. Try other words, or without --group.")


async def find(settings: Settings, query: str, groups: list[TargetGroup], count: int | None) -> list[Evidence]:
    """Search the knowledge base once."""
    from rejoinder.assembly import open_embedder, open_searcher

    async with open_embedder(settings) as embedder:
        searcher = await open_searcher(settings, embedder)
        return await searcher.search(query, groups=groups, k=count)
