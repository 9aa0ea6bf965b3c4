"""Accept requests over HTTP from Slack only.

Slack signs each request, including its time, with the app's secret
(https://docs.slack.dev/authentication/verifying-requests-from-slack). A request that is older than five minutes, or
whose signature was seen before, is a replay.
"""

from __future__ import annotations

import logging
import time

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

log = logging.getLogger(__name__)

PATH = "/slack/events"
WINDOW_S = 300
MAX_BODY = 1_000_000


class SignedEndpoint:
    """The HTTP endpoint that Slack calls: signatures are verified, then Bolt answers."""

    def __init__(self, app: AsyncApp, secret: str) -> None:
        self._app = app
        self._verifier = SignatureVerifier(secret)
        self._seen: dict[str, float] = {}

    def application(self) -> web.Application:
        """Return the application with `POST /slack/events` and `GET /healthz`."""
        app = web.Application(client_max_size=MAX_BODY)
        app.router.add_post(PATH, self._take)
        app.router.add_get("/healthz", self._healthy)
        return app

    async def _healthy(self, _: web.Request) -> web.Response:
        return web.json_response({"ok": True})

    async def _take(self, request: web.Request) -> web.Response:
        body = await request.read()
        signature = request.headers.get("X-Slack-Signature", "")
        if not self._genuine(body, request.headers.get("X-Slack-Request-Timestamp", ""), signature):
            log.warning("A request from %s was not signed by Slack, or replayed; refused.", request.remote)
            return web.json_response({"error": "the signature is missing, wrong, old or used"}, status=401)
        # Recorded before the answer, so that two simultaneous copies don't both pass; Slack signs each repeat anew.
        self._seen[signature] = time.time()
        signed = AsyncBoltRequest(
            body=body.decode(), query=request.query_string,
            headers={name: str(value) for name, value in request.headers.items()},
        )  # fmt: skip
        return await to_aiohttp_response(await self._app.async_dispatch(signed))

    def _genuine(self, body: bytes, timestamp: str, signature: str) -> bool:
        # The verifier would raise instead of refusing if these are not numeric or not ASCII.
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 12 and signature.isascii()):
            return False
        # A timestamp may be ahead by the window, and its signature is valid until the timestamp is behind by as much.
        oldest = time.time() - 2 * WINDOW_S
        self._seen = {earlier: at for earlier, at in self._seen.items() if at >= oldest}
        try:
            return signature not in self._seen and self._verifier.is_valid(body, timestamp, signature)
        except UnicodeDecodeError:
            return False
