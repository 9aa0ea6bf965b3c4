"""`rejoinder discord`: the desk in Discord."""

from __future__ import annotations

import asyncio

import click

from rejoinder.commands.process import load_settings, run_until_stopped, start_logging


@click.command()
def discord() -> None:
    """Serve moderators in Discord."""
    from core.secrets import given_secret

    settings = load_settings()
    start_logging(settings)
    chat = settings.discord
    token = given_secret(chat.token, chat.token_file, "REJOINDER_DISCORD__TOKEN")
    if not chat.servers:
        raise click.UsageError("No Discord server is set; see docs/discord.md for REJOINDER_DISCORD__SERVERS.")

    async def body(stop: asyncio.Event) -> None:
        from bot.desk import Desk
        from bot.discord.checkup import complaints
        from bot.discord.client import DeskClient
        from bot.discord.connection import stay_connected
        from bot.translation import speaking
        from rejoinder.guard_assembly import open_guard
        from rejoinder.starting import wait_for_ledger

        with speaking(settings.desk.language):
            for complaint in await complaints(chat, token):
                click.echo(complaint, err=True)
        async with wait_for_ledger(settings, stop) as ledger:
            if ledger is None:
                return
            desk = Desk(ledger, open_guard(settings), settings.desk, settings.draft.choices)
            await stay_connected(lambda: DeskClient(ledger, desk, chat, settings.care), token, stop)

    run_until_stopped(body)
