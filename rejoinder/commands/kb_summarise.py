"""`rejoinder kb summarise`: summarise long paragraphs in advance, so that drafts need not wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing
from pathlib import Path

import click
from rich.progress import Progress

from core.errors import BadSettings, KnowledgeBaseError, ModelRefused
from core.settings import Settings
from rejoinder.commands.process import load_settings, run, start_logging

BATCH = 500
"""Number of paragraphs read at once."""


@click.command()
@click.option("--most", type=click.IntRange(1), help="Stop after so many summaries.")
def summarise(most: int | None) -> None:
    """Write the two-sentence summaries of long paragraphs with the chat model of the settings.

    What is done is kept, so the command can be stopped and started again.
    """
    settings = load_settings()
    start_logging(settings)
    done = run(summarise_all(settings, most))
    click.echo(f"{done:,} paragraphs were summarised.")


async def summarise_all(settings: Settings, most: int | None) -> int:
    """Summarise all paragraphs without a summary; return how many. Raises BadSettings without a chat model."""
    from kb.summaries import Summariser, SummaryStore
    from rejoinder.assembly import ensure_starter_indexed, kb_folder, open_embedder
    from rejoinder.chat_assembly import chat_client

    folder = kb_folder(settings)
    async with AsyncExitStack() as stack:
        chat = await stack.enter_async_context(chat_client(settings, settings.data_dir / "logs" / "chat-server.log"))
        if chat is None:
            raise BadSettings("Summaries need a chat model, and chat.model is `none`. Name one, or set chat.endpoint.")
        async with open_embedder(settings) as embedder:
            await ensure_starter_indexed(settings, embedder)
        store = stack.enter_context(closing(SummaryStore(folder)))
        if not store.lasting:
            raise KnowledgeBaseError(f"Summaries can't be kept in {folder}. See that the folder is there and writable.")
        summariser = Summariser(store, chat.model, chat)
        texts = [text for batch in _texts(folder) for text in summariser.missing(batch)][:most]
        slots = asyncio.Semaphore(settings.chat.slots)
        with Progress() as progress:
            task = progress.add_task("Summarising", total=len(texts))

            async def shorten(text: str) -> bool:
                async with slots:
                    try:
                        await summariser.summary(text)
                    except ModelRefused as error:
                        progress.console.print(f"Left out: {error}", style="yellow")
                        return False
                    finally:
                        progress.advance(task)
                    return True

            return sum(await asyncio.gather(*map(shorten, texts)))


def _texts(folder: Path) -> Iterator[list[str]]:
    from kb.snapshot import Snapshot

    with closing(Snapshot.open(folder)) as snapshot:
        for numbers in snapshot.batches(BATCH):
            yield [paragraph.text for paragraph in snapshot.get(numbers)]
