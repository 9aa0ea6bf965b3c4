"""Which channel of which server gets a case, depending on the groups it attacks, its language and its platform."""

from __future__ import annotations

from collections.abc import Mapping

from bot.chat.place import Place
from core.domain import FlaggedPost, TargetGroup, Triage
from core.settings import ChannelRule, ChatWorkspace


def channel_for(server: ChatWorkspace, post: FlaggedPost, triage: Triage | None) -> str | None:
    """Return the id of the channel that gets the case, or None if it is not posted on this server.

    The groups are tried from the most probable down, and for each the rules in order; the first rule that fits wins.
    """
    groups: list[TargetGroup | None] = [item.group for item in triage.groups] if triage else []
    language = language_of(post, triage)
    for group in groups or [None]:
        for rule in server.rules:
            if _fits(rule, group, language, post.platform):
                return rule.channel
    return server.channel


def channels(server: ChatWorkspace) -> tuple[str, ...]:
    """Return all channels that the settings name for cases, without duplicates."""
    named = [rule.channel for rule in server.rules] + ([server.channel] if server.channel else [])
    return tuple(dict.fromkeys(named))


def places(surface: str, servers: Mapping[str, ChatWorkspace], post: FlaggedPost, triage: Triage | None) -> list[Place]:
    """Return where a chat shows the case: at most one channel per server."""
    channels_by_server = {name: channel_for(server, post, triage) for name, server in servers.items()}
    return [Place(surface, name, channel) for name, channel in channels_by_server.items() if channel is not None]


def language_of(post: FlaggedPost, triage: Triage | None) -> str:
    """Return the post's language as ISO 639-1, or `und`."""
    if triage is not None and triage.language != "und":
        return triage.language
    return (post.language or "und").partition("-")[0].lower()


def _fits(rule: ChannelRule, group: TargetGroup | None, language: str, platform: str) -> bool:
    return (
        (not rule.groups or group in rule.groups)
        and (not rule.languages or language in rule.languages)
        and (not rule.platforms or platform in rule.platforms)
    )
