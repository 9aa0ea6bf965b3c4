"""On a phone one case fills the page: the next one, help and the connection are a tap away, the bar has no holes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.bot.conftest import House
from tests.bot.live.axe import AXE, findings, too_wide
from tests.bot.live.conftest import CHROMIUM
from tests.bot.samples import add_pending, post

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

ID = '[data-slot="post-id"]'
HOLES = """() => {
  const buttons = [...document.querySelectorAll(".actions button")].filter((button) => button.offsetWidth);
  const rows = Object.groupBy(buttons, (button) => button.offsetTop);
  return Object.values(rows).map((row) => Math.max(...row.map((button) => button.offsetLeft + button.offsetWidth)));
}"""


@pytest_asyncio.fixture(loop_scope="session")
async def phone(browser: Browser, base: str) -> AsyncIterator[Page]:
    context = await browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = await context.new_page()
    await page.goto(f"{base}#token=ana-secret-token")
    await page.locator("#cases .row").first.tap()
    await expect(page.locator('.actions [data-do="approve"]')).to_be_visible()
    yield page


async def test_next_and_previous_are_a_tap_away(phone: Page) -> None:
    await phone.locator('[data-do="next"]').tap()
    await expect(phone.locator(ID)).to_have_text("post-2")
    await phone.locator('[data-do="previous"]').tap()
    await expect(phone.locator(ID)).to_have_text("post-1")
    await expect(phone.locator("#queue")).to_be_hidden()


async def test_connection_help_and_who_is_logged_in_are_in_sight_beside_a_case(phone: Page) -> None:
    await expect(phone.locator("#connection")).to_have_text("live")
    await expect(phone.locator("#connection")).to_be_in_viewport()
    await expect(phone.locator("#me")).to_have_text("ana, reviewer")
    await expect(phone.locator("#me")).to_be_in_viewport()
    assert await too_wide(phone) == []
    await phone.get_by_role("button", name="Help").tap()
    await expect(phone.locator("#tour-open")).to_be_visible()
    assert await too_wide(phone) == []


async def test_the_list_is_shown_where_one_was_in_it_and_an_empty_one_explains_itself(phone: Page) -> None:
    for number in (2, 3, 4, 5):
        await phone.locator('[data-do="next"]').tap()
        await expect(phone.locator(ID)).to_have_text(f"post-{number}")
    await phone.locator(".back").tap()
    await expect(phone.locator("#cases .row[aria-current]")).to_be_in_viewport()
    await phone.locator("#state-filter").select_option("failed")
    await expect(phone.locator(".empty h2")).to_have_text("Nothing here.")


async def test_the_bar_is_filled_in_every_mode(phone: Page) -> None:
    reading = await phone.evaluate(HOLES)
    await phone.wait_for_timeout(450)  # the page takes no decision in the first moments of a case
    await phone.locator('.actions [data-do="edit"]').tap()
    await expect(phone.locator('.actions [data-do="send"]')).to_be_visible()
    writing = await phone.evaluate(HOLES)
    assert len(writing) < len(reading)
    assert max(*reading, *writing) - min(*reading, *writing) <= 1


async def test_a_text_to_be_edited_is_shown_from_its_start(phone: Page, house: House) -> None:
    key = await add_pending(house.ledger, post(7), "Every child has a right to education. " * 20)
    await phone.locator(".back").tap()
    await phone.locator(f'#cases .row[data-key="{key}"]').tap()
    await expect(phone.locator(ID)).to_have_text("post-7")
    await phone.wait_for_timeout(450)  # the page takes no decision in the first moments of a case
    await phone.locator('.actions [data-do="edit"]').tap()
    await expect(phone.locator("#reply-text")).to_be_focused()
    field, page = [await phone.locator(at).bounding_box() for at in ("#reply-text", "#case")]
    assert field and page and field["y"] >= page["y"]
    assert await phone.locator("#reply-text").evaluate("(area) => area.selectionEnd") == 0


async def test_a_finger_hits_the_box_that_selects_a_case(phone: Page) -> None:
    await phone.locator(".back").tap()
    box = await phone.locator(".pick").first.bounding_box()
    assert box and min(box["width"], box["height"]) >= 24


@pytest.mark.skipif(AXE is None, reason="no axe-core; pip install axe-playwright-python")
async def test_axe_finds_nothing_beside_and_in_a_case(phone: Page) -> None:
    assert await findings(phone) == []
    await phone.locator(".back").tap()
    assert await findings(phone) == []
