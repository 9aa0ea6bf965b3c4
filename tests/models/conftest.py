from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Yield a function that serves routes, such as `{"POST /v1/embeddings": handler}`, and returns the base URL."""
    servers: list[TestServer] = []

    async def start(routes: dict[str, Handler]) -> str:
        app = web.Application()
        for route, handler in routes.items():
            method, path = route.split()
            app.router.add_route(method, path, handler)
        server = TestServer(app)
        await server.start_server()
        servers.append(server)
        return str(server.make_url("")).rstrip("/")

    yield start
    for server in servers:
        await server.close()
