"""However bad the line and however hasty the hand: a key decides on the case that the person saw, or on nothing."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from itertools import count
from random import Random

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from core.domain import Action, CaseState, Transition
from tests.bot.conftest import House
from tests.bot.live.bad_line import BadLine
from tests.bot.live.conftest import CHROMIUM, DeskServer
from tests.bot.live.test_browser import log_in
from tests.bot.samples import PLATFORM, add_pending, post

DECISIONS = int(os.environ.get("DESK_DECISIONS", "200"))
pytestmark = [
    pytest.mark.live,
    pytest.mark.slow,
    pytest.mark.timeout(300 + 5 * DECISIONS),
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

PEOPLE = ("ana", "ben", "lea")
WAITING = 60
"""As many cases are kept waiting."""
TONE = "5"
KEYS: dict[object, str] = {Action.APPROVE: "a", Action.DISMISS: "n", Action.REJECT: TONE}
RECORD = """
window.presses = [];
addEventListener("keydown", ({ key }) => {
  const body = document.getElementById("case-body");
  const words = (name) => (body.inert ? "" : body.querySelector(`[data-slot="${name}"]`)?.textContent ?? "");
  presses.push([key, words("post-id"), words("draft")]);
}, true);"""
"""Notes at each press of a key what can be seen at that moment; a case that is being left is none."""


@pytest_asyncio.fixture(loop_scope="session")
async def line() -> BadLine:
    return BadLine()


@pytest_asyncio.fixture(loop_scope="session")
async def busy(house: House, line: BadLine) -> AsyncIterator[str]:
    """Give the address of a desk behind a bad line to which new cases come as others are decided."""
    numbers = count(1)
    await top_up(house, numbers)
    app = house.app()
    app.middlewares.append(line.carry)
    server = DeskServer(app)
    await server.start_server()
    feeder = asyncio.create_task(keep_full(house, numbers))
    yield f"http://{server.host}:{server.port}/"
    feeder.cancel()
    await asyncio.wait([feeder])
    await server.close()


async def keep_full(house: House, numbers: Iterable[int]) -> None:
    while True:
        await top_up(house, numbers)
        await asyncio.sleep(2)


async def top_up(house: House, numbers: Iterable[int]) -> None:
    missing = WAITING - (await house.desk.counts()).get(CaseState.PENDING, 0)
    for number, _ in zip(numbers, range(missing), strict=False):
        await add_pending(house.ledger, post(number, f"They took boat {number}."), draft_of(number))


def draft_of(number: object) -> str:
    return f"Boat {number} is in the harbour. Nobody has taken it."


async def decisions(house: House) -> list[Transition]:
    newest, made = 0, list[Transition]()
    while changes := await house.ledger.history.since(newest):
        made += [change for change in changes if change.kind in KEYS]
        newest = changes[-1].id
    return made


async def decide_in_haste(page: Page, random: Random, enough: asyncio.Event) -> None:
    """Step and decide as fast as a hand may, now and then before the page has followed."""
    while not enough.is_set():
        for _ in range(random.choice((0, 0, 0, 0, 1, 2, 5))):
            await page.keyboard.press(random.choice("jjjk"))
            await page.wait_for_timeout(random.choice((0, 0, 100)))
        await page.wait_for_timeout(random.choice((0, 150, 900, 1_100, 1_100, 1_300)))
        await page.keyboard.press(key := random.choice("aaaaannnrru"))
        if key == "r":
            await page.wait_for_timeout(random.choice((0, 300)))
            await page.keyboard.press(TONE)
            await page.keyboard.press("Escape")


async def count_up(house: House, enough: asyncio.Event) -> None:
    while len(await decisions(house)) < DECISIONS:
        await asyncio.sleep(5)
    enough.set()


async def test_no_key_ever_decides_on_a_case_that_was_not_on_the_screen(
    browser: Browser, busy: str, house: House, line: BadLine
) -> None:
    pages = {}
    for name in PEOPLE:
        page = pages[name] = await (await browser.new_context()).new_page()
        await page.add_init_script(RECORD)
        await log_in(page, busy, name)
        await expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    line.bad, enough = True, asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(count_up(house, enough))
        for number, page in enumerate(pages.values()):
            group.create_task(decide_in_haste(page, Random(number), enough))
    line.bad = False

    made = await decisions(house)
    presses = {name: await page.evaluate("presses") for name, page in pages.items()}
    sys.stdout.write(f"\n{len(made)} decisions, {sum(map(len, presses.values()))} keys, {line.lost} losses\n")
    assert len(made) >= DECISIONS
    for name in PEOPLE:
        shown = [(post_id, draft) for _, post_id, draft in presses[name] if post_id]
        assert all(draft == draft_of(post_id.removeprefix("post-")) for post_id, draft in shown)
        meant = Counter((key, f"{PLATFORM}/{post_id}") for key, post_id, _ in presses[name])
        done = Counter((KEYS[change.kind], change.case_key) for change in made if change.who == name)
        assert done - meant == Counter(), name
