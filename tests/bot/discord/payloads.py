"""Objects as Discord sends them: channels, members, servers."""

from __future__ import annotations

from typing import Any

from tests.bot.discord.world import Guild, Member, World


def channel_payload(id: str, name: str, guild: str) -> dict[str, Any]:
    return {
        "id": id, "type": 0, "guild_id": guild, "name": name, "position": 0, "permission_overwrites": [],
        "nsfw": False, "topic": None, "last_message_id": None, "parent_id": None, "rate_limit_per_user": 0, "flags": 0,
    }  # fmt: skip


def member_payload(member: Member) -> dict[str, Any]:
    return {
        "user": {"id": member.id, "username": member.name, "discriminator": "0", "global_name": None, "avatar": None,
                 "public_flags": 0},
        "roles": member.roles, "joined_at": "2026-01-01T00:00:00+00:00", "deaf": False, "mute": False, "flags": 0,
        "nick": None, "avatar": None, "permissions": "2147483647", "premium_since": None, "pending": False,
    }  # fmt: skip


def guild_payload(world: World, guild: Guild) -> dict[str, Any]:
    roles = {**guild.roles, "@everyone": guild.id}
    channels = [item for item in world.channels.values() if item.guild == guild.id]
    return {
        "id": guild.id, "name": guild.name, "owner_id": "1", "member_count": len(guild.members), "large": False,
        "roles": [
            {"id": id, "name": name, "color": 0, "hoist": False, "position": index, "permissions": "0",
             "managed": False, "mentionable": False, "flags": 0}
            for index, (name, id) in enumerate(roles.items())
        ],
        "channels": [channel_payload(item.id, item.name, guild.id) for item in channels],
        "members": [], "emojis": [], "stickers": [], "features": [], "threads": [], "voice_states": [],
        "presences": [], "stage_instances": [], "guild_scheduled_events": [], "unavailable": False,
        "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
        "nsfw_level": 0, "premium_tier": 0, "preferred_locale": "en-US", "system_channel_flags": 0,
    }  # fmt: skip
