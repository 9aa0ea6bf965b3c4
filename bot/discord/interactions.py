"""The moderator behind an interaction, and answers that only they can see."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import discord

from bot.chat.decision_dialogue import message_of
from bot.chat.languages import Languages
from bot.chat.people import moderator
from bot.discord.board import SURFACE
from bot.discord.text import plain
from bot.permissions import Moderator
from bot.translation import _, speaking
from core.errors import Forbidden
from core.settings import ChatWorkspace

log = logging.getLogger(__name__)

Interaction = discord.Interaction[Any]
TOO_LATE = 10062
ALREADY_ANSWERED = 40060


def server_id(interaction: Interaction) -> str:
    """Return the id of the interaction's server, as in the settings."""
    return str(interaction.guild_id)


def asking_moderator(interaction: Interaction, servers: Mapping[str, ChatWorkspace]) -> Moderator:
    """Return the moderator behind an interaction. Raises Forbidden, in plain words."""
    user = interaction.user
    server = servers.get(server_id(interaction))
    if server is None or not isinstance(user, discord.Member):
        raise Forbidden(_("This is not a server that Rejoinder works on; an admin adds it in the settings."))
    return member_moderator(user, server)


def member_moderator(member: discord.Member, server: ChatWorkspace) -> Moderator:
    """Return the moderator for a member of a server. Raises Forbidden if they may not decide."""
    return moderator(server, SURFACE, str(member.id), member.name, [str(role.id) for role in member.roles])


async def tell(interaction: Interaction, text: str, **more: Any) -> None:
    """Send a message to the person who asked, whether or not the interaction was already answered."""
    if interaction.response.is_done():
        await interaction.followup.send(plain(text), ephemeral=True, **more)
    else:
        await interaction.response.send_message(plain(text), ephemeral=True, **more)


@contextmanager
def in_flight(interaction: Interaction) -> Iterator[None]:
    """Register an interaction as in progress, so that the client waits for it before closing."""
    task, others = asyncio.current_task(), interaction.client.in_flight
    others.add(task)
    try:
        yield
    finally:
        others.discard(task)


@asynccontextmanager
async def answering(interaction: Interaction, languages: Languages) -> AsyncIterator[None]:
    """Answer in the language of the person who asked, and report every error to them alone."""
    with in_flight(interaction), speaking(language_of(interaction, languages)):
        async with _telling_errors(interaction):
            yield


def language_of(interaction: Interaction, languages: Languages) -> str:
    """Return the language to answer in."""
    user = interaction.user
    return languages.of_person(server_id(interaction), str(user.id), user.name, interaction.locale.value)


@asynccontextmanager
async def _telling_errors(interaction: Interaction) -> AsyncIterator[None]:
    try:
        try:
            yield
        except discord.HTTPException:
            raise
        except Exception as error:
            # The moderator is waiting for an answer, so even a bug gets one.
            await tell(interaction, message_of(error))
    except discord.HTTPException as error:
        # Discord shows "interaction failed" by itself, and the decision is in the ledger either way.
        reasons = {TOO_LATE: "was answered too late", ALREADY_ANSWERED: "was answered twice"}
        log.warning("An interaction %s (%s).", reasons.get(error.code, "could not be answered"), error.status)
