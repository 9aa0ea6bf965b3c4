"""`rejoinder ledger`: migration of the ledger's tables, which commands that only read never do."""

from __future__ import annotations

import click

from rejoinder.commands.process import load_settings, run, start_logging


@click.group()
def ledger() -> None:
    """Look after the ledger's tables."""


@ledger.command()
def migrate() -> None:
    """Bring the ledger's tables to this version, as its processes do at their start; no older one can use them then."""
    from rejoinder.assembly import open_ledger

    settings = load_settings()
    start_logging(settings)

    async def body() -> None:
        async with open_ledger(settings, migrating=True):
            pass

    run(body())
    click.echo("the ledger has the tables of this version")
