"""The interface that the cards need from a chat platform; Discord and Slack each implement it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from bot.chat.cards import Card


class CardBoard(Protocol):
    """A chat platform on which cards are posted and kept up to date.

    Every method may wait for as long as the platform demands. It raises ChannelLost, CardGone for a deleted message,
    CardRefused for a card that the platform rejects, or Unavailable, after which the caller tries again. `number` is
    the case's short number, which the buttons carry.
    """

    surface: str

    async def post(self, server: str, channel: str, card: Card, number: int) -> str:
        """Post a card and return its message id; repeats of a number within minutes should give only one message."""

    async def update(self, server: str, channel: str, message: str, card: Card, number: int) -> None:
        """Update a card; a normal return means that the platform has accepted it."""

    async def find(self, server: str, channel: str, number: int, since: datetime) -> str | None:
        """Return the id of our message since a moment that is the card with this number, or None."""

    async def announce(self, server: str, channel: str, text: str, message: str | None) -> str:
        """Post a text, or edit `message`, and return the message id; a deleted message is posted again."""
