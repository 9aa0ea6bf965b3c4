"""Run the client until told to stop, through outages, but not with a token that Discord refuses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import aiohttp
import discord

from bot.discord.client import DeskClient
from bot.translation import N_
from core.errors import BadSettings
from core.retry import SYSTEM_CLOCK, Backoff, Clock, Retry

log = logging.getLogger(__name__)

AUTHENTICATION_FAILED = 4004
BACKOFF = Backoff(first_s=1.0, longest_s=60.0)
REFUSED = N_(
    "Discord refuses the bot's token. Make a new one (developer portal, your application, Bot, Reset Token), set "
    "REJOINDER_DISCORD__TOKEN or the file REJOINDER_DISCORD__TOKEN_FILE, and start again."
)
# discord.py raises AttributeError if the first connection fails, because it accesses a socket that never existed.
_AWAY = (aiohttp.ClientError, OSError, discord.HTTPException, discord.GatewayNotFound, AttributeError)


async def stay_connected(
    make: Callable[[], DeskClient],
    token: str,
    stop: asyncio.Event,
    backoff: Backoff = BACKOFF,
    clock: Clock = SYSTEM_CLOCK,
) -> None:
    """Run a client until `stop` is set; if Discord is unavailable, create another one after a wait.

    The waits grow while connections fail, and are short again after one that lasted longer than the longest wait.
    Raises BadSettings if Discord refuses the token, at the start or later.
    """
    retry = Retry(backoff, clock)
    while not stop.is_set():
        client, began = make(), clock.monotonic()
        try:
            await _until(stop, _run(client, token))
        except discord.LoginFailure:
            raise BadSettings(REFUSED) from None
        except discord.ConnectionClosed as error:
            if error.code == AUTHENTICATION_FAILED:
                raise BadSettings(REFUSED) from None
            reason = f"Discord closed the connection ({error.code})"
        except _AWAY as error:
            if isinstance(error, AttributeError) and client.ws is not None:
                raise
            reason = f"Discord can't be reached ({type(error).__name__})"
        else:
            return
        retry.note_run(clock.monotonic() - began)
        wait_s = retry.next_wait_s()
        log.warning("%s; connecting again in %.0f s", reason, wait_s)
        await _until(stop, clock.sleep(wait_s))


async def _run(client: DeskClient, token: str) -> None:
    try:
        await client.start(token)
    finally:
        await client.close()


async def _until(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Run `work` to its end or until `stop` is set; errors of `work` are raised."""
    stopping, working = asyncio.create_task(stop.wait()), asyncio.create_task(work)
    try:
        await asyncio.wait((stopping, working), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            await working
    finally:
        stopping.cancel()
        working.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)
