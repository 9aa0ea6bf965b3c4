"""The desk works by keyboard alone and for screen readers: order, focus, announcements, and axe-core's rules."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.bot.conftest import House
from tests.bot.live.axe import AXE, findings
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import log_in, press
from tests.bot.samples import PLATFORM, add_answered, post

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

ID = '[data-slot="post-id"]'


@pytest.mark.skipif(AXE is None, reason="no axe-core; pip install axe-playwright-python")
async def test_axe_finds_nothing_where_one_reads_and_writes(browser: Browser, base: str, house: House) -> None:
    """Look at what is most on the screen; `test_every_state.py` looks at the rest, in every look."""
    await add_answered(house.ledger, post(7), hate=0.34)
    page = await browser.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    await page.goto(f"{base}#case={PLATFORM}/post-7&token=ana-secret-token")
    await press(page, "b")
    await page.locator(".checks-fold summary").click()
    assert await findings(page) == []
    await page.emulate_media(color_scheme="dark")
    await press(page, "e")
    await page.locator("#reply-text").fill("This is forbidden. It fails.")
    await expect(page.locator('[data-slot="verdict"].error')).to_be_visible()
    assert await findings(page) == []


async def test_approve_is_near_and_the_focus_never_falls_to_the_body(browser: Browser, base: str) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    focused = "document.activeElement === document.body ? 'body' : document.activeElement.dataset.do ?? ''"
    for number in (1, 2):
        await expect(page.locator(ID)).to_have_text(f"post-{number}")
        for _ in range(10):
            await page.keyboard.press("Tab")
            if await page.evaluate(focused) == "approve":
                break
        assert await page.evaluate(focused) == "approve"
        await page.wait_for_timeout(450)
        await page.keyboard.press("Enter")
        await expect(page.locator(ID)).to_have_text(f"post-{number + 1}")
        assert await page.evaluate(focused) != "body"
    await expect(page.locator("#announce")).to_have_text("post against people with disabilities, waits for a decision.")
    await press(page, "b", "r", "Escape", "e", "Escape")
    assert await page.evaluate(focused) != "body"


async def test_caps_lock_disables_no_key(browser: Browser, base: str) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await page.wait_for_timeout(450)
    await page.evaluate(
        """() => document.body.dispatchEvent(
            new KeyboardEvent("keydown", { key: "J", bubbles: true, modifierCapsLock: true }))"""
    )
    await expect(page.locator(ID)).to_have_text("post-2")
