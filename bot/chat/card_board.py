"""What the cards need of a chat platform. Discord and Slack each bring one."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from bot.chat.cards import Card


class CardBoard(Protocol):
    """A chat platform on which cards are posted and kept up to date.

    Every method may wait as long as the platform asks for, and raises ChannelLost, CardGone for a deleted message,
    CardRefused for a card the platform does not take, or Unavailable, after which it is tried again. `number` is the
    case's short number: buttons carry it.
    """

    surface: str

    async def post(self, server: str, channel: str, card: Card, number: int) -> str:
        """Post a card and return its message id; the same number twice within minutes should give one message."""

    async def update(self, server: str, channel: str, message: str, card: Card, number: int) -> None:
        """Show a card anew; a normal return means that the platform has taken it."""

    async def find(self, server: str, channel: str, number: int, since: datetime) -> str | None:
        """Return the id of a message of ours since a moment that is the card with this number, or None."""

    async def announce(self, server: str, channel: str, text: str, message: str | None) -> str:
        """Post a text, or change the message `message`, and return the message id; a deleted one is posted anew."""
