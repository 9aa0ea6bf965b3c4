"""Text for Discord: markup escaped, and cut to Discord's limits."""

from __future__ import annotations

import discord

from bot.chat.defuse import cut, defuse

MAX_CONTENT = 2_000
"""Longest message content (Discord, "Create Message")."""


def escaped(text: str, limit: int) -> str:
    """Return a defused text with Discord's markup escaped, at most `limit` characters long."""
    shown = _escape(text)
    while len(shown) > limit:
        text = cut(text, max(1, len(text) - max(1, (len(shown) - limit) // 2)))
        shown = _escape(text)
    return shown


def fits(text: str, limit: int) -> bool:
    """Tell whether a defused text is not cut by `escaped`."""
    return len(_escape(text)) <= limit


def plain(text: str, limit: int = MAX_CONTENT) -> str:
    """Return any text, defused and escaped."""
    return escaped(defuse(text, limit), limit)


def _escape(text: str) -> str:
    return discord.utils.escape_markdown(text, ignore_links=False)
