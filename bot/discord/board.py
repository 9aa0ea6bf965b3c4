"""Discord as a card board, over its REST API; its errors become ours, with messages in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import aiohttp
import discord

from bot.chat.cards import Card
from bot.discord.buttons import ButtonId
from bot.discord.render import card_embed, card_view
from bot.discord.text import plain
from core.errors import BadSettings, CardGone, CardRefused, ChannelLost, ChatUnavailable

SURFACE = "discord"
UNKNOWN_CHANNEL = 10003
UNKNOWN_GUILD = 10004
UNKNOWN_MESSAGE = 10008
MOST_DRAFTS = 5_000
_NEEDS = "View Channel, Send Messages, Embed Links and Read Message History"


class DiscordBoard:
    """Discord as a board of cards."""

    surface = SURFACE

    def __init__(self, client: discord.Client) -> None:
        self._client = client
        self.drafts: dict[tuple[str, int], str] = {}
        """(Server, case number) -> draft of recently shown cards: a form must open before anything can be looked up."""

    async def post(self, server: str, channel: str, card: Card, number: int) -> str:
        """Post a card; within minutes, Discord creates only one message per nonce, however often it is sent."""
        self._remember(server, card, number)
        with translated_errors(server, channel):
            message = await self._channel(server, channel).send(
                embed=card_embed(card, number), view=card_view(card, number), nonce=f"rejoinder-{number}"
            )
        return str(message.id)

    async def update(self, server: str, channel: str, message: str, card: Card, number: int) -> None:
        """Update a card."""
        self._remember(server, card, number)
        with translated_errors(server, channel):
            posted = self._channel(server, channel).get_partial_message(snowflake(message))
            await posted.edit(embed=card_embed(card, number), view=card_view(card, number))

    async def find(self, server: str, channel: str, number: int, since: datetime) -> str | None:
        """Search our messages since a moment for the card with this number."""
        own = self._client.application_id
        with translated_errors(server, channel):
            async for message in self._channel(server, channel).history(after=since, limit=500):
                if message.author.id == own and number in _numbers(message):
                    return str(message.id)
        return None

    async def announce(self, server: str, channel: str, text: str, message: str | None) -> str:
        """Post a text, or replace the text of `message`."""
        room = self._channel(server, channel)
        with translated_errors(server, channel):
            if message is not None:
                try:
                    await room.get_partial_message(snowflake(message)).edit(content=plain(text))
                except discord.NotFound as error:
                    if error.code != UNKNOWN_MESSAGE:
                        raise
                else:
                    return message
            return str((await room.send(plain(text))).id)

    def _remember(self, server: str, card: Card, number: int) -> None:
        while len(self.drafts) >= MOST_DRAFTS:
            del self.drafts[next(iter(self.drafts))]
        self.drafts[server, number] = card.editable

    def _channel(self, server: str, channel: str) -> discord.PartialMessageable:
        return self._client.get_partial_messageable(snowflake(channel), guild_id=snowflake(server))


@contextmanager
def translated_errors(server: str, channel: str) -> Iterator[None]:
    """Translate Discord's errors into ChannelLost, CardGone, CardRefused or ChatUnavailable."""
    where = f"The Discord channel {channel} of server {server}"
    try:
        yield
    except discord.NotFound as error:
        if error.code == UNKNOWN_MESSAGE:
            raise CardGone(f"A card in the Discord channel {channel} was deleted.") from error
        if error.code in (UNKNOWN_CHANNEL, UNKNOWN_GUILD):
            raise ChannelLost(
                f"{where} does not exist (any more). Set another under REJOINDER_DISCORD__SERVERS.", gone=True
            ) from error
        raise ChatUnavailable(f"{where}: Discord answered {error.status} ({error.code}).") from error
    except discord.Forbidden as error:
        raise ChannelLost(f"{where} is closed to the bot. Give its role there: {_NEEDS}.", gone=False) from error
    except discord.HTTPException as error:
        if error.status == 401:
            raise ChatUnavailable(
                "Discord no longer takes the bot's token. Make a new one in the developer portal and restart the bot."
            ) from error
        if error.status == 400:
            raise CardRefused(f"{where}: Discord does not take it: {error.text[:300]}") from error
        raise ChatUnavailable(f"{where}: Discord answered {error.status} ({error.code}).") from error
    except (TimeoutError, aiohttp.ClientError, OSError) as error:
        raise ChatUnavailable(f"Discord can't be reached: {type(error).__name__}.") from error


def snowflake(text: str) -> int:
    """Return a Discord id from the settings as a number. Raises BadSettings."""
    if not text.isascii() or not text.isdigit():
        raise BadSettings(f"{text[:40]!r} is no Discord id; copy it with Developer Mode on, it is a long number.")
    return int(text)


def _numbers(message: discord.Message) -> set[int]:
    ids = (getattr(child, "custom_id", None) for item in message.components for child in getattr(item, "children", ()))
    return {button.number for custom_id in ids if custom_id and (button := ButtonId.read(custom_id))}
