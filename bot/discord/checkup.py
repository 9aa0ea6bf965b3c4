"""Look whether the settings fit what Discord knows: servers, channels, permissions, roles, people."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

import aiohttp
import discord

from bot.chat.people import without_reviewers
from bot.chat.routing import channels
from bot.discord.connection import REFUSED
from core.settings import ChatWorkspace, DiscordSettings

_INVITE = "Invite it with the scopes bot and applications.commands; see docs/discord.md."
_NEEDED = discord.Permissions(
    view_channel=True, send_messages=True, embed_links=True, attach_files=True, read_message_history=True
)


async def complaints(settings: DiscordSettings, token: str) -> list[str]:
    """Return in plain words what keeps the bot from working, and what to do; nothing when all is well."""
    client = discord.Client(intents=discord.Intents.none())
    lacking = without_reviewers(settings.servers, "REJOINDER_DISCORD__SERVERS")
    try:
        await client.login(token)
        misfits = [problem for id, server in settings.servers.items() async for problem in _server(client, id, server)]
        return [*lacking, *misfits]
    except discord.LoginFailure:
        return [*lacking, REFUSED]
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        return [*lacking, f"Discord can't be asked ({type(error).__name__}); check the network, then ask again."]
    finally:
        await client.close()


async def _server(client: discord.Client, id: str, server: ChatWorkspace) -> AsyncIterator[str]:
    if not id.isdigit():
        yield f"{id!r} is no Discord server id; copy it with Developer Mode on, it is a long number."
        return
    try:
        guild = await client.fetch_guild(int(id), with_counts=False)
        me = await guild.fetch_member(client.user.id if client.user else 0)
        known = {str(channel.id): channel for channel in await guild.fetch_channels()}
    except (discord.Forbidden, discord.NotFound):
        yield f"The bot is not on Discord server {id}. {_INVITE}"
        return
    for name in dict.fromkeys([*channels(server), *filter(None, [server.lead_channel])]):
        channel = known.get(name)
        if channel is None:
            yield f"Channel {name} does not exist on server {guild.name}; set another in REJOINDER_DISCORD__SERVERS."
        elif lack := _lacking(channel.permissions_for(me)):
            yield f"The bot lacks {lack} in #{channel.name} on server {guild.name}; give its role these there."
    for name in await _unknown(guild, {*server.leads, *server.admins, *server.reviewers}):
        yield f"No role or member {name} is on server {guild.name}; correct REJOINDER_DISCORD__SERVERS."


def _lacking(held: discord.Permissions) -> str:
    return ", ".join(name.replace("_", " ") for name, needed in _NEEDED if needed and not getattr(held, name))


async def _unknown(guild: discord.Guild, ids: Iterable[str]) -> list[str]:
    roles = {str(role.id) for role in guild.roles}
    return [id for id in sorted(ids) if id not in roles and not await _is_member(guild, id)]


async def _is_member(guild: discord.Guild, id: str) -> bool:
    if not id.isdigit():
        return False
    try:
        await guild.fetch_member(int(id))
    except discord.NotFound:
        return False
    return True
