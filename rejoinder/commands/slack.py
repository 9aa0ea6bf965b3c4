"""`rejoinder slack`: the desk in Slack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

from core.background import running
from core.settings import Settings, SlackSettings
from rejoinder.commands.process import load_settings, run_until_stopped, start_logging

if TYPE_CHECKING:
    from bot.slack.bot import SlackBot
    from bot.slack.socket_mode import SocketModeConnection
    from bot.slack.workspaces import Workspaces

VARIABLE = "REJOINDER_SLACK__"


@click.command()
def slack() -> None:
    """Serve moderators in Slack."""
    settings = load_settings()
    start_logging(settings)
    if not settings.slack.workspaces:
        raise click.UsageError(f"No Slack workspace is set; see docs/slack.md for {VARIABLE}WORKSPACES.")
    parts = connect(settings.slack)
    run_until_stopped(lambda stop: serve(settings, *parts, stop))


def connect(chat: SlackSettings) -> tuple[Workspaces, SocketModeConnection | str]:
    """Return the workspaces and, depending on the mode, the connection to Slack or the signing secret.

    Raises BadSettings if a secret is missing.
    """
    from bot.slack.socket_mode import SocketModeConnection
    from bot.slack.workspaces import Workspaces
    from core.secrets import given_secret

    tokens = {
        team: given_secret(server.bot_token, server.bot_token_file, f"{VARIABLE}WORKSPACES__{team}__BOT_TOKEN")
        for team, server in chat.workspaces.items()
    }
    workspaces = Workspaces(chat.workspaces, tokens, chat.api_url)
    if chat.mode == "http":
        return workspaces, given_secret(chat.signing_secret, chat.signing_secret_file, f"{VARIABLE}SIGNING_SECRET")
    app_token = given_secret(chat.app_token, chat.app_token_file, f"{VARIABLE}APP_TOKEN")
    return workspaces, SocketModeConnection(app_token, chat.api_url)


async def serve(
    settings: Settings, workspaces: Workspaces, line: SocketModeConnection | str, stop: asyncio.Event
) -> None:
    """Serve until told to stop; first print where the settings and Slack do not match."""
    from bot.changes import Changes
    from bot.desk import Desk
    from bot.pipeline_cli import PipelineCli
    from bot.slack.bot import SlackBot
    from bot.slack.checkup import complaints
    from bot.translation import speaking
    from rejoinder.guard_assembly import open_guard
    from rejoinder.starting import answer_while_starting, wait_for_ledger

    await workspaces.require_working_token()
    with speaking(settings.desk.language):
        for complaint in await complaints(workspaces, None if isinstance(line, str) else line):
            click.echo(complaint, err=True)
    port = settings.slack.port if isinstance(line, str) else 0
    async with answer_while_starting(settings.slack.host, port) as leave, wait_for_ledger(settings, stop) as ledger:
        if ledger is None:
            return
        changes = Changes(ledger.history)
        desk = Desk(ledger, open_guard(settings), settings.desk, settings.draft.choices)
        bot = SlackBot(
            desk, ledger, changes, workspaces, settings.care, PipelineCli(),
            signing_secret=line if isinstance(line, str) else "", api_url=settings.slack.api_url,
        )  # fmt: skip
        jobs = [job.run() for job in (changes, bot.languages, bot.card_sync, bot.reminders, bot.escalations)]
        await leave()
        async with running(jobs), _listening(settings.slack, bot, line) as notice:
            click.echo(notice)
            await stop.wait()


@asynccontextmanager
async def _listening(chat: SlackSettings, bot: SlackBot, line: SocketModeConnection | str) -> AsyncIterator[str]:
    from bot.slack.signed_http import PATH, SignedEndpoint
    from rejoinder.web import serving

    if not isinstance(line, str):
        async with running([line.run(bot.app)]):
            yield "working in Slack over Socket Mode"
        return
    async with serving(SignedEndpoint(bot.app, line).application(), chat.host, chat.port) as port:
        yield f"listening on http://{chat.host}:{port}{PATH}"
