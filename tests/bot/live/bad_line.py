"""Bad connections to the desk: one is slow and sometimes breaks, before a request arrives or before its answer does;
another one dies without a word."""

from __future__ import annotations

import asyncio
from contextlib import suppress
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


class DeadLine:
    """A relay to the desk whose connections can die without being closed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._alive = asyncio.Event()
        self._alive.set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def open(self) -> asyncio.Server:
        """Return the relay's server."""
        return await asyncio.start_server(self._relay, "127.0.0.1", 0)

    def die(self) -> None:
        """Carry nothing any more, and close nothing."""
        self._alive.clear()

    def revive(self) -> None:
        """Break the dead connections, and carry new ones."""
        for writer in self._writers:
            writer.transport.abort()
        self._alive.set()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        await self._alive.wait()
        desk_reader, desk_writer = await asyncio.open_connection("127.0.0.1", self._port)
        with suppress(ConnectionError):
            await asyncio.gather(self._carry(reader, desk_writer), self._carry(desk_reader, writer))
        for each in (writer, desk_writer):
            each.transport.abort()
        self._writers.discard(writer)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            await self._alive.wait()
            writer.write(data)
            await writer.drain()
        writer.close()
