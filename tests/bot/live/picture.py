"""Draw the desk's page for the documents: `python -m tests.bot.live.picture docs/images`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Literal

from aiohttp.test_utils import TestServer
from playwright.async_api import Page, async_playwright

from bot.surroundings import Surroundings
from bot.web.application import page_address
from core.domain import now
from tests.bot.conftest import House, open_house
from tests.bot.live.conftest import CHROMIUM, FLAGS
from tests.bot.samples import add_answered, fill, post

Scheme = Literal["light", "dark"]
Show = Callable[[Page], Awaitable[None]]


async def first_case(page: Page) -> None:
    await page.locator("#cases .row").first.click()
    await page.locator("#case .case-inner").wait_for()


async def today(page: Page) -> None:
    await first_case(page)
    await page.keyboard.press("y")
    await page.locator("[data-slot=picture]").wait_for()


async def settings(page: Page) -> None:
    await first_case(page)
    await page.locator("#settings-open").click()


async def tour(page: Page) -> None:
    await page.get_by_role("button", name="Look at a made-up case").click()
    for _ in range(3):
        await page.keyboard.press("ArrowRight")


async def nothing_yet(page: Page) -> None:
    await page.locator("[data-slot=command]").wait_for()


PICTURES: dict[str, tuple[Scheme, int, int, Show]] = {
    "desk-empty": ("light", 1440, 900, nothing_yet),
    "desk-tour": ("light", 1440, 900, tour),
    "desk": ("light", 1440, 900, first_case),
    "desk-dark": ("dark", 1440, 900, first_case),
    "desk-phone": ("light", 390, 844, first_case),
    "desk-today": ("light", 1440, 900, today),
    "desk-today-dark": ("dark", 1440, 900, today),
    "desk-settings": ("light", 1440, 900, settings),
}
"""What is drawn: colours, size, and how to get there. The first two are of a desk without a case."""
EMPTY = ("desk-empty", "desk-tour")


async def draw(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        async with open_house(Path(place)) as house, async_playwright() as playwright:
            parts = {"Kafka broker": "takes flagged posts, hands replies on.", "Worker": "finds evidence and drafts."}
            server = TestServer(house.app(Surroundings(parts=parts, takes_flags=True)))
            await server.start_server()
            browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
            for name, (scheme, width, height, show) in PICTURES.items():
                if name not in EMPTY and not sum((await house.desk.counts()).values()):
                    await add_answered(house.ledger, post(7, "They come here and take our jobs."), hate=0.47)
                    await decide_some(house, await fill(house.ledger))
                page = await browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                await page.goto(page_address(server.host, server.port or 0, "ana-secret-token"))
                await show(page)
                await page.wait_for_timeout(1000)
                await page.screenshot(path=folder / f"{name}.png")
            await browser.close()
            await server.close()


async def decide_some(house: House, keys: list[str]) -> None:
    due = now() + timedelta(minutes=5)
    await house.ledger.decisions.approve(keys[4], 4, "ben", "A reply of my own. It has two sentences.", "edited", due)
    await house.ledger.decisions.reject(keys[5], 4, "ben", "tone", due)
    await house.ledger.decisions.claim(keys[3], 4, "ana", due)


if __name__ == "__main__":
    asyncio.run(draw(Path(sys.argv[1])))
