"""Stay connected to Slack over Socket Mode, which needs no public address.

This wraps the library's client because of two defects: after a failed connection the client would retry with a used
ticket, and it logs connection problems as tracebacks.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress

from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.slack.web_api import sdk_log, translated_errors, web_client
from core.errors import BadSettings

log = logging.getLogger(__name__)

PING_S = 5.0


class _NoTracebacks(logging.Filter):
    """A filter for the library's connection errors, which `SocketModeConnection` logs once, in plain words."""

    _REPORTED_HERE = (
        "Failed to connect",
        "Failed to retrieve WSS",
        "Failed to check the current session",
        "Failed to receive",
    )

    def filter(self, record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(self._REPORTED_HERE)


sdk_log.addFilter(_NoTracebacks())


class _Client(SocketModeClient):
    """A client that remembers why no connection could be opened."""

    trouble: Exception | None = None

    async def issue_new_wss_url(self) -> str:
        try:
            with translated_errors("the app-level token"):
                url = str((await self.web_client.apps_connections_open(app_token=self.app_token))["url"])
        except Exception as error:
            self.trouble = error
            raise
        self.trouble = None
        return url


class SocketModeConnection:
    """One Socket Mode connection, kept open; incoming requests are passed to an app."""

    def __init__(self, app_token: str, api_url: str, ping_s: float = PING_S) -> None:
        self._app_token = app_token
        self._api_url = api_url
        self._ping_s = ping_s

    async def check(self) -> None:
        """Check the app-level token. Raises BadSettings or ChatUnavailable."""
        with translated_errors("the app-level token"):
            await web_client(None, self._api_url).apps_connections_open(app_token=self._app_token)

    async def run(self, app: AsyncApp) -> None:
        """Stay connected until cancelled, reconnecting after failures. Raises BadSettings for a refused token."""
        client = _Client(
            app_token=self._app_token, web_client=web_client(None, self._api_url), logger=sdk_log,
            ping_interval=self._ping_s,
        )  # fmt: skip

        async def take(client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
            began = time.time()
            answer = await run_async_bolt_app(app, request)
            await send_async_response(client, request, answer, began)

        client.socket_mode_request_listeners.append(take)
        connecting = asyncio.create_task(client.connect())  # type: ignore[no-untyped-call]
        try:
            await self._watch(client)
        finally:
            connecting.cancel()
            with suppress(asyncio.CancelledError):
                await connecting
            await _close(client)

    async def _watch(self, client: _Client) -> None:
        logged: str | None = ""
        while True:
            await asyncio.sleep(self._ping_s / 5)
            if await client.is_connected():
                if logged is not None:
                    log.info("Connected to Slack.")
                logged = None
                continue
            if isinstance(client.trouble, BadSettings):
                raise client.trouble
            # A ticket is valid once, so the client must request a new one before it tries again.
            client.wss_uri = None
            trouble = str(client.trouble or "the line to Slack is down; connecting again")
            if trouble != logged:
                log.warning("%s", trouble)
                logged = trouble


async def _close(client: _Client) -> None:
    running = [client.message_processor, client.current_session_monitor, client.message_receiver]
    with suppress(SlackApiError):
        await client.close()  # type: ignore[no-untyped-call]
    await asyncio.gather(*(task for task in running if task is not None), return_exceptions=True)
