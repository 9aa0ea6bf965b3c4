"""Run the client until told to stop: through outages, but not with a token that Discord refuses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

import aiohttp
import discord

from bot.discord.client import DeskClient
from core.errors import BadSettings
from core.retry import Backoff, Retry

log = logging.getLogger(__name__)

AUTHENTICATION_FAILED = 4004
BACKOFF_MAX_S = 60.0
REFUSED = (
    "Discord refuses the bot's token. Make a new one (developer portal, your application, Bot, Reset Token), set "
    "REJOINDER_DISCORD__TOKEN or the file REJOINDER_DISCORD__TOKEN_FILE, and start again."
)
# discord.py answers a first connection that fails with AttributeError: it looks at a socket that never was.
_AWAY = (aiohttp.ClientError, OSError, discord.HTTPException, discord.GatewayNotFound, AttributeError)


async def stay_connected(
    make: Callable[[], DeskClient], token: str, stop: asyncio.Event, backoff_s: float = 1.0
) -> None:
    """Run a client until `stop`; when Discord is away, make another one after a while.

    Raises BadSettings when Discord refuses the token, at the start or later.
    """
    retry = Retry(Backoff(backoff_s, BACKOFF_MAX_S))
    while not stop.is_set():
        client, wait_s = make(), retry.next_wait_s()
        try:
            await _run(client, token, stop)
        except discord.LoginFailure:
            raise BadSettings(REFUSED) from None
        except discord.ConnectionClosed as error:
            if error.code == AUTHENTICATION_FAILED:
                raise BadSettings(REFUSED) from None
            log.warning("Discord closed the connection (%s); connecting again in %.0f s", error.code, wait_s)
        except _AWAY as error:
            if isinstance(error, AttributeError) and client.ws is not None:
                raise
            log.warning("Discord can't be reached (%s); trying again in %.0f s", type(error).__name__, wait_s)
        else:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), wait_s)


async def _run(client: DeskClient, token: str, stop: asyncio.Event) -> None:
    stopping = asyncio.create_task(stop.wait())
    running = asyncio.create_task(client.start(token))
    try:
        await asyncio.wait((stopping, running), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            await running
    finally:
        stopping.cancel()
        await client.close()
        running.cancel()
        await asyncio.gather(running, stopping, return_exceptions=True)
