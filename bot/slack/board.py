"""Post cards in Slack channels; `bot.chat.card_sync` decides which."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from slack_sdk.models.metadata import Metadata
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.cards import Card
from bot.slack.blocks import card_blocks, summary
from bot.slack.rich_text import escaped
from bot.slack.web_api import translated_errors
from core.errors import CardGone

SURFACE = "slack"
CARD = "rejoinder_card"
"""The type of a card message's invisible metadata, by which posted cards are recognised after a crash."""
_PAGE = 200
_QUIET: dict[str, Any] = {"unfurl_links": False, "unfurl_media": False, "parse": "none", "link_names": False}


class SlackBoard:
    """Slack as a board of cards; `clients` has one client per workspace."""

    surface = SURFACE

    def __init__(self, clients: Mapping[str, AsyncWebClient]) -> None:
        self._clients = clients

    async def post(self, server: str, channel: str, card: Card, number: int) -> str:
        """Post a card and return its `ts`."""
        with translated_errors(server, channel):
            answer = await self._clients[server].chat_postMessage(
                channel=channel, text=summary(card), blocks=card_blocks(card, number),
                metadata=Metadata(event_type=CARD, event_payload={"number": number}), **_QUIET,
            )  # fmt: skip
        return str(answer["ts"])

    async def update(self, server: str, channel: str, message: str, card: Card, number: int) -> None:
        """Update a card."""
        with translated_errors(server, channel):
            await self._clients[server].chat_update(
                channel=channel, ts=message, text=summary(card), blocks=card_blocks(card, number),
                metadata=Metadata(event_type=CARD, event_payload={"number": number}), parse="none", link_names=False,
            )  # fmt: skip

    async def find(self, server: str, channel: str, number: int, since: datetime) -> str | None:
        """Search a channel's messages for a card."""
        cursor: str | None = None
        while True:
            with translated_errors(server, channel):
                page = await self._clients[server].conversations_history(
                    channel=channel, oldest=f"{since.timestamp():.6f}", limit=_PAGE, include_all_metadata=True,
                    cursor=cursor,
                )  # fmt: skip
            for message in page["messages"]:
                metadata = message.get("metadata", {})
                if metadata.get("event_type") == CARD and metadata["event_payload"].get("number") == number:
                    return str(message["ts"])
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or None
            if cursor is None:
                return None

    async def announce(self, server: str, channel: str, text: str, message: str | None) -> str:
        """Post a text, or replace the text of `message`."""
        client, shown = self._clients[server], escaped(text)
        if message is not None:
            try:
                with translated_errors(server, channel):
                    await client.chat_update(channel=channel, ts=message, text=shown, parse="none", link_names=False)
            except CardGone:
                return await self.announce(server, channel, text, None)
            return message
        with translated_errors(server, channel):
            answer = await client.chat_postMessage(channel=channel, text=shown, **_QUIET)
        return str(answer["ts"])
