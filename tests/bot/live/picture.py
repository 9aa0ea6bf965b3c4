"""Draw the desk's page for the documents: `python -m tests.bot.live.picture docs/images`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Literal

from aiohttp.test_utils import TestServer
from playwright.async_api import async_playwright

from bot.web.application import page_address
from tests.bot.conftest import open_house
from tests.bot.live.conftest import CHROMIUM, FLAGS
from tests.bot.samples import add_answered, fill, post

Scheme = Literal["light", "dark"]
PICTURES: dict[str, tuple[Scheme, int, int]] = {
    "desk": ("light", 1440, 900),
    "desk-dark": ("dark", 1440, 900),
    "desk-phone": ("light", 390, 844),
}


async def draw(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as place:
        async with open_house(Path(place)) as house, async_playwright() as playwright:
            await add_answered(house.ledger, post(7, "They come here and take our jobs."), hate=0.47)
            await fill(house.ledger)
            server = TestServer(house.app())
            await server.start_server()
            browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
            for name, (scheme, width, height) in PICTURES.items():
                page = await browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                await page.goto(page_address(server.host, server.port or 0, "ana-secret-token"))
                await page.locator("#cases .row").first.click()
                await page.locator("#case .case-inner").wait_for()
                await page.wait_for_timeout(1000)
                await page.screenshot(path=folder / f"{name}.png")
            await browser.close()
            await server.close()


if __name__ == "__main__":
    asyncio.run(draw(Path(sys.argv[1])))
