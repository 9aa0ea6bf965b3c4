"""`rejoinder kb`: the knowledge base."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack

import click
from rich.console import Console

from core.domain import Evidence, TargetGroup
from core.settings import Settings
from rejoinder.commands.kb_add import add
from rejoinder.commands.kb_build import build
from rejoinder.commands.kb_claims import claims
from rejoinder.commands.kb_crawl import crawl
from rejoinder.commands.kb_remove import remove
from rejoinder.commands.kb_review import review
from rejoinder.commands.kb_stats import stats
from rejoinder.commands.kb_summarise import summarise
from rejoinder.commands.process import given_text, load_settings, run, start_logging


@click.group()
def kb() -> None:
    """Search and build the knowledge base."""


for command in (crawl, add, remove, build, stats, summarise, claims, review):
    kb.add_command(command)


@kb.command()
@click.argument("query")
@click.option("--group", "groups", multiple=True, type=click.Choice([group.value for group in TargetGroup]))
@click.option("-k", "count", type=click.IntRange(1, 50), help="How many statements.")
@click.option("--counter-claim", "also", multiple=True, help="What an answer might say; searched for too. Repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def search(query: str, groups: tuple[str, ...], count: int | None, also: tuple[str, ...], as_json: bool) -> None:
    """Find the evidence that answers QUERY best; `-` reads it from standard input."""
    settings = load_settings()
    start_logging(settings)
    evidence = run(find(settings, given_text(query), [TargetGroup(group) for group in groups], count, [*also]))
    if as_json:
        click.echo(json.dumps([item.model_dump(mode="json") for item in evidence]))
        return
    console = Console()
    for number, item in enumerate(evidence, start=1):
        source = item.source
        console.print(f"[{number}] {item.text}", highlight=False, markup=False)
        where = f"    {source.institution}: {source.title}, {source.symbol}, {source.locator} ({source.year})"
        console.print(f"{where} · {item.score:.3f}\n    {source.url}", style="dim", highlight=False, markup=False)
    if not evidence:
        console.print("No fitting evidence. Try other words, or without --group.")


async def find(
    settings: Settings, query: str, groups: list[TargetGroup], count: int | None, also: list[str]
) -> list[Evidence]:
    """Search the knowledge base once; the chat model is used only if the search itself needs it."""
    from rejoinder.assembly import open_embedder, open_searcher, search_needs_chat
    from rejoinder.chat_assembly import chat_client

    async with AsyncExitStack() as stack:
        chat = await stack.enter_async_context(chat_client(settings)) if search_needs_chat(settings) else None
        embedder = await stack.enter_async_context(open_embedder(settings))
        searcher = await stack.enter_async_context(open_searcher(settings, embedder, chat))
        return await searcher.search(query, groups=groups, k=count, also=also)
