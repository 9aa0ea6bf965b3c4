"""Fixtures: one browser for the whole run, in one event loop, and a desk with its pages for each test."""

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
    """A server that lets a request run to its end after the browser has gone, as the desk's own server does.

    TestServer cancels such a request, which may leave a file open that was just being opened.
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
    """Yield the browser without pages, and close those that the test opens."""
    yield chromium
    for context in chromium.contexts:
        await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as house:
        yield house


@pytest_asyncio.fixture(loop_scope="session")
async def only_these(house: House) -> AsyncIterator[str]:
    """Yield the address of a desk that has only the cases put there by the test."""
    server = DeskServer(house.app())
    await server.start_server()
    yield f"http://{server.host}:{server.port}/"
    await server.close()


@pytest_asyncio.fixture(loop_scope="session")
async def base(house: House, only_these: str) -> str:
    """Return the address of a desk with six cases."""
    await fill(house.ledger)
    return only_these
