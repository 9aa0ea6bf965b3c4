"""The page stays where it is, its menus choose nothing by themselves, and its lists go on to their end."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.bot.conftest import House
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import log_in, press
from tests.bot.samples import PLATFORM, add_pending, post

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

ID = '[data-slot="post-id"]'
LONG = "Donaudampfschiff" * 40


async def test_nothing_stretches_the_page(browser: Browser, base: str, house: House, tmp_path: Path) -> None:
    flagged = post(7, LONG).model_copy(update={"reason": LONG[:400]})
    await add_pending(house.ledger, flagged, f"{LONG} is long. So it is.", note=LONG)
    for width in (1280, 390):
        page = await browser.new_page(viewport={"width": width, "height": 800})
        await page.goto(f"{base}#case={PLATFORM}/post-7&token=ana-secret-token")
        await expect(page.locator(ID)).to_have_text("post-7")
        await press(page, "b")
        await page.screenshot(path=tmp_path / f"long_{width}.png")
        height = "document.documentElement.scrollHeight - document.documentElement.clientHeight"
        assert await page.evaluate(height) == 0
        for box in ("document.documentElement", "document.getElementById('case')", "document.getElementById('cases')"):
            assert await page.evaluate(f"{box}.scrollWidth - {box}.clientWidth") == 0, (width, box)
        await page.close()


async def test_decisions_share_one_bar_that_says_what_it_undoes(browser: Browser, base: str, house: House) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await press(page, "a")
    bar = page.locator(".toast.undo")
    await expect(bar.locator("p")).to_have_text("Approved: post against migrants")
    await expect(page.locator(ID)).to_have_text("post-2")
    await press(page, "n")
    await expect(bar.locator("p")).to_have_text("Dismissed as not hateful: post against another group (1 more before)")
    await expect(bar.locator("button")).to_contain_text(" s")
    await bar.locator("button").click()
    await expect(bar.locator("p")).to_have_text("Approved: post against migrants")
    assert (await house.desk.case(f"{PLATFORM}/post-2")).state == "pending"


async def test_the_editors_buttons_stay_in_view_beside_one_live_list(browser: Browser, base: str) -> None:
    page = await browser.new_page(viewport={"width": 1280, "height": 500})
    await log_in(page, base)
    await press(page, "e")
    for name in ("send", "cancel-edit"):
        await expect(page.locator(f'.actions [data-do="{name}"]')).to_be_in_viewport()
    await expect(page.locator('.actions [data-do="approve"]')).to_be_hidden()
    await page.locator("#reply-text").fill("This is forbidden. It fails.")
    await expect(page.locator('[data-slot="checks-title"]')).to_have_text("Checks of your text")
    await expect(page.locator('[data-slot="checks-sum"]')).to_have_text("1 of 2 checks fails.")
    await expect(page.locator('[data-slot="verdict"]')).to_have_text("1 of 2 checks fails.")
    await expect(page.locator('[data-slot="findings"] li')).to_have_text(["fails: insults nobody (a word; 1 of 0)"])
    await page.locator("#reply-text").press("Escape")
    await expect(page.locator('[data-slot="checks-title"]')).to_have_text("Checks of the draft")
    await expect(page.locator('.actions [data-do="send"]')).to_be_hidden()


@pytest.mark.parametrize("can_grow", [True, False], ids=["grows by itself", "is told to grow"])
async def test_the_editor_shows_a_long_text_from_its_start_and_says_whose_it_is(
    browser: Browser, base: str, house: House, can_grow: bool
) -> None:
    await add_pending(house.ledger, post(7), "Every child has a right to education. " * 12)
    page = await browser.new_page(viewport={"width": 500, "height": 800})
    if not can_grow:
        await page.add_init_script("CSS.supports = () => false")
    await page.goto(f"{base}#case={PLATFORM}/post-7&token=ana-secret-token")
    await expect(page.locator(ID)).to_have_text("post-7")
    title, origin, area = (
        page.locator(at) for at in ('[data-slot="reply-title"]', '[data-slot="origin"]', "#reply-text")
    )
    await expect(origin).to_contain_text("informative")
    if not can_grow:
        await area.evaluate("(area) => { area.style.fieldSizing = 'fixed'; }")
    await press(page, "e")
    await expect(title).to_have_text("Your text")
    await expect(origin).to_have_text("")
    assert await area.evaluate("(area) => area.scrollTop") == 0
    await page.keyboard.type("And more of it.\n\n\n\nSo it is.")
    assert await area.evaluate("(area) => area.scrollHeight - area.clientHeight") == 0
    await page.keyboard.press("Escape")
    await expect(title).to_have_text("Draft")
    await expect(origin).to_contain_text("informative")


async def test_enter_chooses_no_reason_that_nobody_chose(browser: Browser, base: str, house: House) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await press(page, "r", "Enter")
    await expect(page.locator("#reject")).to_be_visible()
    await page.locator("#reject-words").fill("too long")
    await page.keyboard.press("Enter")
    await page.keyboard.press("Enter")
    await expect(page.locator("#reject .error")).to_contain_text("Choose one of the reasons")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).state == "pending"
    await page.locator('#reject [data-choice="tone"]').click()
    await expect(page.locator(ID)).to_have_text("post-2")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).decided_why == "tone: too long"


async def test_search_looks_into_posts_on_the_server(browser: Browser, base: str) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await page.locator("#search").fill("BISCUITS zorblaxians")
    await expect(page.locator("#queue-count")).to_have_text("1 found, oldest first")
    await expect(page.locator(ID)).to_have_text("post-1")
    assert "biscuits" not in await page.content()
    await page.locator("#search").fill("nothing like it")
    await expect(page.locator("#queue-count")).to_have_text("Nothing found.")


async def test_the_list_goes_on_past_its_first_page_and_a_colleagues_decision(
    browser: Browser, base: str, house: House
) -> None:
    for number in range(7, 106):
        await add_pending(house.ledger, post(number))
    page = await browser.new_page()
    await log_in(page, base)
    await expect(page.locator("#queue-count")).to_have_text("100 listed, oldest first; there are more")
    await page.locator("#cases .row").nth(98).click()
    await expect(page.locator(ID)).to_have_text("post-99")
    case = await house.desk.case(f"{PLATFORM}/post-99")
    await house.ledger.decisions.reject(case.key, case.version, "ben", "tone", case.updated_at)
    await expect(page.locator('[data-slot="state"]')).to_contain_text("rejected by ben")
    await expect(page.locator("#cases .row").nth(98)).to_have_attribute("data-key", f"{PLATFORM}/post-100")
    for number in (100, 101, 102, 103):
        await press(page, "j")
        await expect(page.locator(ID)).to_have_text(f"post-{number}")
