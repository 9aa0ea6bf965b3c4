"""`rejoinder evaluate live`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from bot.stats import period
from core.domain import now
from rejoinder.assembly import open_ledger
from rejoinder.commands.extras import needs_extra
from rejoinder.commands.process import load_settings, start_logging


@click.command("live")
@click.option("--since", default="30d", show_default=True, help="How far back: for example 24h, 30d or 8w.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the report there as Markdown too.")
def live_command(since: str, out: Path | None) -> None:
    """Say what moderators made of the drafts, from the ledger of the settings."""
    length = period(since)
    with needs_extra("evaluate"):
        from evaluation.live import live
    settings = load_settings()
    start_logging(settings)

    async def read() -> str:
        async with open_ledger(settings) as ledger:
            return "\n".join((await live(ledger, now() - length)).lines())

    text = asyncio.run(read())
    click.echo(text)
    if out is not None:
        out.write_text(f"{text}\n", encoding="utf-8")
