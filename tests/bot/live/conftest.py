"""One browser for the whole run, in one event loop; a desk and its pages for each test."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from playwright.async_api import Browser, async_playwright, expect

from tests.bot.conftest import House, open_house
from tests.bot.samples import fill

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--no-first-run"]  # fmt: skip


class DeskServer(TestServer):
    """A server that ends a request whose browser has gone, as the desk's own does.

    The one it is made from cancels it, and a file that was just being opened is left open.
    """

    async def _make_runner(self, **options: Any) -> web.AppRunner:
        return web.AppRunner(self.app, **{**options, "handler_cancellation": False})


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    expect.set_options(timeout=60_000)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def browser(chromium: Browser) -> AsyncIterator[Browser]:
    """Give the browser without pages, and close those that the test opens."""
    yield chromium
    for context in chromium.contexts:
        await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as house:
        yield house


@pytest_asyncio.fixture(loop_scope="session")
async def only_these(house: House) -> AsyncIterator[str]:
    """Give the address of a desk with the cases that the test puts there."""
    server = DeskServer(house.app())
    await server.start_server()
    yield f"http://{server.host}:{server.port}/"
    await server.close()


@pytest_asyncio.fixture(loop_scope="session")
async def base(house: House, only_these: str) -> str:
    """Give the address of a desk with six cases."""
    await fill(house.ledger)
    return only_these
