"""The Discord client: it connects, passes interactions on, and keeps the cards up to date."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import discord
from discord import app_commands

from bot.changes import Changes
from bot.chat.card_sync import CardSync
from bot.chat.commands import Commands
from bot.chat.decision_dialogue import DecisionDialogue
from bot.chat.escalations import Escalations
from bot.chat.languages import Languages
from bot.chat.own_cases import OwnCases
from bot.chat.reminders import Reminders
from bot.desk import Desk
from bot.discord.board import SURFACE, DiscordBoard, snowflake
from bot.discord.buttons import CaseButton
from bot.discord.decisions import DecisionInteractions
from bot.discord.interactions import Interaction
from bot.discord.localised import Localised
from bot.discord.slash import SlashCommands
from bot.pipeline_cli import PipelineCli
from core.background import running
from core.settings import CareSettings, DiscordSettings
from ledger import Ledger

log = logging.getLogger(__name__)

GRACE_S = 5.0
"""Seconds that interactions in progress get to finish when the bot is stopped."""


class DeskClient(discord.Client):
    """The bot in Discord.

    - At the start, it registers its buttons and commands and begins to maintain the cards.
    - On a button or form, `DecisionInteractions` answers; on a command, `SlashCommands`.
    - On a change anywhere (browser, Slack, worker), `CardSync` updates the card.
    - If the connection is lost, discord.py reconnects by itself, and `CardSync` continues over REST.
    - If one of its background jobs fails, it ends, and with it the process.

    It requests only the intent `guilds`: it reads no messages and no member lists.
    """

    def __init__(
        self,
        ledger: Ledger,
        desk: Desk,
        settings: DiscordSettings,
        care: CareSettings,
        *,
        changes: Changes | None = None,
        pipeline_cli: PipelineCli | None = None,
    ) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True),
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
        )
        servers, board = settings.servers, DiscordBoard(self)
        self._servers = servers
        self._changes = changes or Changes(ledger.history)
        self.languages = languages = Languages(SURFACE, servers, ledger.moderator_settings, desk.settings.language)
        self.card_sync = CardSync(ledger, board, servers, care, self._changes, languages)
        own_cases = OwnCases(desk, ledger.cards, servers)
        dialogue = DecisionDialogue(desk, own_cases, self._changes)
        self.decisions = DecisionInteractions(dialogue, ledger.cards, self.card_sync, servers, languages, board.drafts)
        self._reminders = Reminders(own_cases, ledger.cards, board, servers, care, languages)
        self._escalations = Escalations(ledger, board, servers, care, self._changes, languages)
        self._tree = app_commands.CommandTree(self)
        commands = Commands(desk, ledger, servers, own_cases, languages, pipeline_cli or PipelineCli())
        self._tree.add_command(SlashCommands(commands, ledger.cards, servers, languages))
        self.in_flight: set[asyncio.Task[Any]] = set()
        """The tasks that are processing an interaction."""

    async def setup_hook(self) -> None:
        """Prepare after the login, before the first event."""
        self.add_dynamic_items(CaseButton)
        await self._tree.set_translator(Localised())

    async def connect(self, *, reconnect: bool = True) -> None:
        """Stay connected, and maintain the cards meanwhile; a job that fails ends the connection."""
        jobs = (self._changes, self.languages, self.card_sync, self._reminders, self._escalations)
        async with running([job.run() for job in jobs]):
            for server in self._servers:
                await self._offer_commands(server)
            await super().connect(reconnect=reconnect)

    async def on_interaction(self, interaction: Interaction) -> None:
        """Handle forms; discord.py dispatches buttons and commands itself, but not forms opened before a restart."""
        if interaction.type is discord.InteractionType.modal_submit:
            await self.decisions.submit(interaction)

    async def close(self) -> None:
        """Finish the interactions in progress and disconnect."""
        if self.in_flight:
            _, late = await asyncio.wait(self.in_flight, timeout=GRACE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await super().close()

    async def _offer_commands(self, server: str) -> None:
        """Register the commands on one server, where they appear at once; global registration would take an hour."""
        guild = discord.Object(snowflake(server))
        self._tree.copy_global_to(guild=guild)
        try:
            await self._tree.sync(guild=guild)
        except discord.HTTPException as error:
            log.error("The commands can't be registered on Discord server %s (%s). %s", server, error.code, _INVITE)


_INVITE = "Invite the bot there with the scopes bot and applications.commands; see docs/discord.md."
