from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.retry import Backoff
from kb.sources import Client, Keywords, Politeness
from tests.core.turned_clock import TurnedClock

SHARED = Path(__file__).parents[3] / "../shared/kb"
QUICK = Politeness(interval_s=0.0, attempts=3, backoff=Backoff(0.001, 0.01), timeout_s=10.0)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Replay:
    """A local server that answers through its handler, and records the requests."""

    def __init__(self, handler: Handler, robots: Handler | None = None) -> None:
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self._held_back = 0
        self._reached = asyncio.Event()
        self._go_on = asyncio.Event()
        self._handler = handler
        self._robots = robots
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self.server = TestServer(app)

    @property
    def base(self) -> str:
        return str(self.server.make_url("")).rstrip("/")

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            return await self._robots(request) if self._robots else web.Response(status=404)
        self.asked.append(request.path_qs)
        self.headers.append(dict(request.headers))
        if len(self.asked) == self._held_back:
            self._reached.set()
            await self._go_on.wait()
        return await self._handler(request)

    async def interrupt(self, work: Coroutine[Any, Any, object], after: int) -> str:
        """Interrupt a crawl while it waits for the answer to request number `after`; return that request's path."""
        self._held_back = after
        task = asyncio.create_task(work)
        try:
            await asyncio.wait_for(self._reached.wait(), 30)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._go_on.set()
        return self.asked[-1]


Serve = Callable[..., Awaitable[Replay]]
ServeRaw = Callable[[bytes], Awaitable[str]]


@pytest.fixture(scope="session")
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the recorded answers (../shared/kb) are not beside this checkout")
    return SHARED


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    async with AsyncExitStack() as stack:

        async def start(handler: Handler, robots: Handler | None = None) -> Replay:
            replay = Replay(handler, robots)
            await stack.enter_async_context(replay.server)
            return replay

        yield start


@pytest.fixture
async def serve_raw() -> AsyncIterator[ServeRaw]:
    """Yield a function that serves raw bytes, to imitate broken connections; there is no robots.txt."""
    servers: list[asyncio.Server] = []

    async def start(answer: bytes) -> str:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            writer.write(missing if b"/robots.txt" in head else answer)
            await writer.drain()
            writer.close()
            await writer.wait_closed()

        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        servers.append(server)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    yield start
    for server in servers:
        server.close()
        await server.wait_closed()


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
async def client(clock: TurnedClock) -> AsyncIterator[Client]:
    async with Client(["127.0.0.1"], QUICK, clock=clock) as opened:
        yield opened


@pytest.fixture(scope="session")
def quick() -> Politeness:
    return QUICK


@pytest.fixture(scope="session")
def keywords() -> Keywords:
    return Keywords.load()
