"""Draw every state of the page in every look: `python -m tests.bot.live.picture docs/images`, or `make pictures`.

`desk/STATE.webp` shows a state's looks side by side; `desk.png` is the first look of the state WHOLE in full size.
Times are replaced before a picture is taken, so that drawing again changes a picture only if the page has changed.
"""

from __future__ import annotations

import asyncio
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageOps
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.bot.live.conftest import CHROMIUM, FLAGS
from tests.bot.live.visit import LOOKS
from tests.bot.live.walks import STATES, visit_states

SCALE = 0.65
QUALITY = 20
"""WebP quality at which the page's small print is legible and a picture stays below 60 kB."""
GAP = 10
EDGE, GROUND = "#8a9490", "#b9c2be"
WHOLE = "list"
"""The state that is kept in full size, in the light look, for the README."""
STAND_STILL = """() => {
  document.documentElement.style.webkitTapHighlightColor = "transparent";
  const write = (place, words) => { delete place.dataset.until; delete place.dataset.age; place.textContent = words; };
  for (const time of document.querySelectorAll("[data-until]")) write(time, "12 s");
  for (const time of document.querySelectorAll("time[data-age]"))
    if (Date.now() - Date.parse(time.dateTime) < 600000) write(time, "just now");
  const command = document.querySelector("#case [data-slot=command]");
  if (command) command.textContent = command.textContent.replace(location.host, "127.0.0.1:8080");
  const since = document.querySelector("#case [data-slot=figures] p");
  if (since) since.textContent = since.textContent.replace(/\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d/, "2026-11-15 09:00");
}"""


async def draw(folder: Path) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        shots = [await shots_of(browser, look) for look in LOOKS]
        await browser.close()
    (folder / "desk").mkdir(parents=True, exist_ok=True)
    for state in STATES:
        picture = side_by_side([shot[state] for shot in shots])
        picture.save(folder / "desk" / f"{state}.webp", quality=QUALITY, method=6)
    Image.open(BytesIO(shots[0][WHOLE])).quantize(64).save(folder / "desk.png", optimize=True)


async def shots_of(browser: Browser, look: str) -> dict[str, bytes]:
    """Return a PNG of each state, in one look."""
    return {state: await shot(visit.page) async for state, visit in visit_states(browser, LOOKS[look])}


async def shot(page: Page) -> bytes:
    await page.evaluate(STAND_STILL)
    return await page.screenshot(animations="disabled")


def side_by_side(shots: list[bytes]) -> Image.Image:
    """Return pictures of the same height next to each other, scaled down."""
    pieces = [ImageOps.expand(ImageOps.scale(Image.open(BytesIO(shot)), SCALE), 1, EDGE) for shot in shots]
    width = sum(piece.width for piece in pieces) + GAP * (len(pieces) - 1)
    sheet = Image.new("RGB", (width, pieces[0].height), GROUND)
    left = 0
    for piece in pieces:
        sheet.paste(piece, (left, 0))
        left += piece.width + GAP
    return sheet


if __name__ == "__main__":
    expect.set_options(timeout=60_000)
    asyncio.run(draw(Path(sys.argv[1])))
