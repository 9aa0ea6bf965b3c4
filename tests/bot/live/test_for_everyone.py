"""The desk works by keyboard alone and for screen readers: order, focus, announcements, and axe-core's rules."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.bot.conftest import House
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import log_in, press
from tests.bot.samples import PLATFORM, add_answered, post

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

ID = '[data-slot="post-id"]'
AXE = find_spec("axe_playwright_python")
FINDINGS = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map(
    (found) => `${found.id}: ${found.nodes.map((node) => node.target.join(" ")).slice(0, 4).join(", ")}`)"""


async def findings(page: Page) -> list[str]:
    assert AXE and AXE.origin
    if not await page.evaluate("'axe' in window"):
        await page.evaluate((Path(AXE.origin).parent / "axe.min.js").read_text())
    found: list[str] = await page.evaluate(FINDINGS)
    return found


@pytest.mark.skipif(AXE is None, reason="no axe-core; pip install axe-playwright-python")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_in_any_state(browser: Browser, base: str, house: House, scheme: str) -> None:
    await add_answered(house.ledger, post(7), hate=0.34)
    assert await house.desk.waiting_with_same_text([f"{PLATFORM}/post-1"]) == {f"{PLATFORM}/post-1": 1}
    page = await browser.new_page(
        viewport={"width": 1440, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    await page.goto(base)
    await expect(page.locator("#token")).to_be_focused()
    found = {"login": await findings(page)}
    await log_in(page, base)
    found["case"] = await findings(page)
    await press(page, "b")
    await page.locator(".checks-fold summary").click()
    found["uncovered"] = await findings(page)
    await press(page, "e")
    await page.locator("#reply-text").fill("This is forbidden. It fails.")
    await expect(page.locator('[data-slot="findings"] li')).to_have_count(1)
    found["editor"] = await findings(page)
    await page.keyboard.press("Escape")
    await expect(page.locator('[data-slot="offer"]')).to_be_visible()
    found["offer"] = await findings(page)
    for key, dialog in (("r", "#reject"), ("d", "#redraft"), ("?", "#help")):
        await press(page, key)
        await expect(page.locator(dialog)).to_be_visible()
        found[dialog] = await findings(page)
        await page.keyboard.press("Escape")
    await press(page, "x")
    await expect(page.locator("#selection")).to_be_visible()
    found["selection"] = await findings(page)
    await press(page, "r")
    await expect(page.locator("#reject .listed li")).to_have_count(1)
    found["reject what is selected"] = await findings(page)
    await press(page, "Escape", "Escape")
    await expect(page.locator("#selection")).to_be_hidden()
    await press(page, "v")
    await expect(page.locator("#same-cases li")).to_have_count(2)
    found["same text"] = await findings(page)
    await page.keyboard.press("Escape")
    await press(page, "n")
    await expect(page.locator(".toast.undo")).to_be_visible()
    found["undo bar"] = await findings(page)
    await press(page, "y")
    await expect(page.locator('[data-slot="figures"]')).to_contain_text("received")
    found["today"] = await findings(page)
    await page.get_by_role("button", name="Settings").click()
    found["settings"] = await findings(page)
    await page.keyboard.press("Escape")
    await press(page, "p")
    found["break"] = await findings(page)
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Help").click()
    await page.locator("#tour-open").click()
    found["tour"] = await findings(page)
    await page.keyboard.press("Escape")
    await page.goto(f"{base}#case={PLATFORM}/post-7")
    await expect(page.locator(ID)).to_have_text("post-7")
    found["warnings and marks"] = await findings(page)
    await page.locator("#search").fill("nothing like it")
    await expect(page.locator("#queue-count")).to_have_text("Nothing found.")
    found["nothing found"] = await findings(page)
    assert {state: faults for state, faults in found.items() if faults} == {}


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
