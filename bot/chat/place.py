"""A place in the chats."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """One channel of one server; `surface` is the chat, `discord` or `slack`."""

    surface: str
    server: str
    channel: str
