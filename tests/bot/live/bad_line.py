"""A bad connection to the desk: slow, and sometimes broken, before a request arrives or before its answer does."""

from __future__ import annotations

import asyncio
from random import Random

from aiohttp import web
from aiohttp.typedefs import Handler

LATENCY_S = 0.3
LOST = 0.03
"""The share of requests that never arrive; for the same share again, the answer never comes back."""
STREAM_S = (5.0, 20.0)
"""The range of seconds after which a stream of changes breaks."""


class BadLine:
    """The connection between browsers and a desk; it is good until `bad` is set."""

    def __init__(self, seed: int = 1) -> None:
        self.bad = False
        self.lost = 0
        self._random = Random(seed)

    @web.middleware
    async def carry(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not self.bad or not request.path.startswith("/v1/"):
            return await handler(request)
        if request.path == "/v1/events":
            return await self._stream(request, handler)
        await asyncio.sleep(LATENCY_S / 2)
        fate = self._random.random()
        if fate < LOST:
            return self._break(request)
        response = await handler(request)
        await asyncio.sleep(LATENCY_S / 2)
        return self._break(request) if fate < 2 * LOST else response

    async def _stream(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        end = asyncio.get_running_loop().call_later(self._random.uniform(*STREAM_S), self._break, request)
        try:
            return await handler(request)
        finally:
            end.cancel()

    def _break(self, request: web.Request) -> web.Response:
        self.lost += 1
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=503)
