"""Check whether the settings fit Discord's own data: servers, channels, permissions, roles, people."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

import aiohttp
import discord

from bot.chat.people import without_lead_channel, without_reviewers
from bot.chat.routing import channels
from bot.discord.connection import REFUSED
from bot.translation import N_, _
from core.settings import ChatWorkspace, DiscordSettings

_INVITE = N_("Invite it with the scopes bot and applications.commands; see docs/discord.md.")
VARIABLE = "REJOINDER_DISCORD__SERVERS"
_NEEDED = discord.Permissions(
    view_channel=True, send_messages=True, embed_links=True, attach_files=True, read_message_history=True
)


async def complaints(settings: DiscordSettings, token: str) -> list[str]:
    """Return in plain words what keeps the bot from working, and what to do; empty if all is well."""
    client = discord.Client(intents=discord.Intents.none())
    lacking = [*without_reviewers(settings.servers, VARIABLE), *without_lead_channel(settings.servers, VARIABLE)]
    try:
        await client.login(token)
        misfits = [problem for id, server in settings.servers.items() async for problem in _server(client, id, server)]
        return [*lacking, *misfits]
    except discord.LoginFailure:
        return [*lacking, _(REFUSED)]
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        words = _("Discord can't be asked ({error}); check the network, then ask again.", error=type(error).__name__)
        return [*lacking, words]
    finally:
        await client.close()


async def _server(client: discord.Client, id: str, server: ChatWorkspace) -> AsyncIterator[str]:
    if not id.isdigit():
        yield _("“{id}” is no Discord server id; copy it with Developer Mode on, it is a long number.", id=id)
        return
    try:
        guild = await client.fetch_guild(int(id), with_counts=False)
        me = await guild.fetch_member(client.user.id if client.user else 0)
        channels_by_id = {str(channel.id): channel for channel in await guild.fetch_channels()}
    except (discord.Forbidden, discord.NotFound):
        yield " ".join((_("The bot is not on Discord server {server}.", server=id), _(_INVITE)))
        return
    for name in dict.fromkeys([*channels(server), *filter(None, [server.lead_channel])]):
        channel = channels_by_id.get(name)
        if channel is None:
            yield _(
                "Channel {channel} does not exist on server {server}; set another in {variable}.",
                channel=name, server=guild.name, variable=VARIABLE,
            )  # fmt: skip
        elif lack := _lacking(channel.permissions_for(me)):
            yield _(
                "The bot lacks {permissions} in #{channel} on server {server}; give its role these there.",
                permissions=lack, channel=channel.name, server=guild.name,
            )  # fmt: skip
    for name in await _unknown(guild, {*server.leads, *server.admins, *server.reviewers}):
        yield _(
            "No role or member {id} is on server {server}; correct {variable}.",
            id=name, server=guild.name, variable=VARIABLE,
        )  # fmt: skip


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
