"""What a moderator has written comes back after Esc, reload, Back and a colleague's decision."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.bot.conftest import House
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import log_in, press
from tests.bot.samples import PLATFORM

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

OWN = "A school for all keeps a promise. It is a good one."
WHY = "Nobody said this, and the fact is about another town."
NOTHING_KEPT = "() => !Object.keys(localStorage).some((name) => name.startsWith('rejoinder-text:'))"
OFFER, OFFERED, ID = '[data-slot="offer"]', '[data-slot="offer-text"]', '[data-slot="post-id"]'


async def test_a_text_comes_back_after_esc_reload_and_another_persons_login(browser: Browser, base: str) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await log_in(page, base)
    await expect(page.locator(OFFER)).to_be_hidden()
    await press(page, "e")
    await page.locator("#reply-text").fill(OWN)
    await page.keyboard.press("Escape")
    await expect(page.locator(OFFERED)).to_have_text(OWN)
    await page.reload()
    await expect(page.locator(OFFERED)).to_have_text(OWN)
    await log_in(page, base, "ben")
    await expect(page.locator("#me")).to_have_text("ben, reviewer")
    await expect(page.locator(ID)).to_have_text("post-1")
    await expect(page.locator(OFFER)).to_be_hidden()
    await log_in(page, base)
    await expect(page.locator("#me")).to_have_text("ana, reviewer")
    await press(page, "e")
    await expect(page.locator("#reply-text")).to_have_value(OWN)
    await page.keyboard.press("Escape")
    await page.locator('[data-do="discard"]').click()
    await expect(page.locator(OFFER)).to_be_hidden()
    await page.reload()
    await expect(page.locator(ID)).to_have_text("post-1")
    await expect(page.locator(OFFER)).to_be_hidden()


async def test_a_text_outlives_an_expired_session_and_a_colleagues_decision(
    browser: Browser, base: str, house: House
) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await log_in(page, base)
    await press(page, "e")
    await page.locator("#reply-text").fill(OWN)
    await context.clear_cookies()
    await page.keyboard.press("Control+Enter")
    await expect(page.locator("#token")).to_be_focused()
    case = await house.desk.case(f"{PLATFORM}/post-1")
    await house.ledger.decisions.reject(case.key, case.version, "ben", "tone", case.updated_at)
    await page.keyboard.type("ana-secret-token")
    await page.keyboard.press("Enter")
    await expect(page.locator("#desk")).to_be_visible()
    await page.reload()
    await expect(page.locator('[data-slot="state"]')).to_contain_text("rejected by ben")
    await expect(page.locator(OFFERED)).to_have_text(OWN)
    await expect(page.locator('[data-slot="offer-go-on"]')).to_be_hidden()


@pytest.mark.parametrize("decide", ["Control+Enter", "n"])
async def test_an_undo_brings_ones_own_text_back_after_a_reload_too(browser: Browser, base: str, decide: str) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await press(page, "e")
    await page.locator("#reply-text").fill(OWN)
    for key in [decide] if decide == "Control+Enter" else ["Escape", decide]:
        await press(page, key)
    await expect(page.locator(ID)).to_have_text("post-2")
    await press(page, "u")
    await expect(page.locator(ID)).to_have_text("post-1")
    await expect(page.locator(OFFERED)).to_have_text(OWN)
    for key in ["e", decide] if decide == "Control+Enter" else [decide]:
        await press(page, key)
    await expect(page.locator(ID)).to_have_text("post-2")
    await page.goto(f"{base}#case={PLATFORM}/post-1")
    await page.reload()
    await expect(page.locator('.actions [data-do="undo"]')).to_be_visible()
    await expect(page.locator(OFFER)).to_be_hidden()
    await press(page, "u")
    await expect(page.locator(OFFERED)).to_have_text(OWN)


async def test_the_words_of_a_menu_come_back_until_they_are_sent(browser: Browser, base: str, house: House) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await page.route("**/nothing-asks-for-this", lambda route: route.abort())
    await log_in(page, base)
    words, decisions = page.locator("#reject-words"), f"**/v1/cases/{PLATFORM}/post-1/decision"
    await press(page, "r")
    await words.fill(WHY)
    await page.keyboard.press("Escape")
    await page.route(decisions, lambda route: route.abort())
    await press(page, "r")
    await expect(words).to_have_value(WHY)
    await page.keyboard.press("9")
    await expect(page.locator(".toast.bad")).to_contain_text("Look whether it was done")
    await page.unroute(decisions)
    await press(page, "r")
    await context.clear_cookies()
    await page.locator('#reject [data-choice="other"]').dispatch_event("click")
    await expect(page.locator("#token")).to_be_focused()
    await page.keyboard.type("ana-secret-token")
    await page.keyboard.press("Enter")
    await expect(page.locator("#desk")).to_be_visible()
    await press(page, "r")
    await expect(words).to_have_value(WHY)
    await page.keyboard.press("9")
    await expect(page.locator(ID)).to_have_text("post-2")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).decided_why == f"other: {WHY}"
    await press(page, "r")
    await expect(words).to_have_value("")
    await page.keyboard.press("Escape")
    await press(page, "u")
    await expect(page.locator(ID)).to_have_text("post-1")
    await press(page, "r")
    await expect(words).to_have_value(WHY)


@pytest.mark.parametrize(("key", "field"), [("d", "#redraft-hint"), ("s", "#assign-words")])
async def test_every_menu_keeps_its_words_for_its_case_and_forgets_them_once_sent(
    browser: Browser, base: str, key: str, field: str
) -> None:
    page = await browser.new_page()
    await log_in(page, base, "lea")
    words = page.locator(field)
    await press(page, key)
    await words.fill(WHY)
    await page.keyboard.press("Escape")
    await press(page, "j")
    await expect(page.locator(ID)).to_have_text("post-2")
    await press(page, key)
    await expect(words).to_have_value("")
    await page.keyboard.press("Escape")
    await page.reload()
    await press(page, "k")
    await expect(page.locator(ID)).to_have_text("post-1")
    await press(page, key)
    await expect(words).to_have_value(WHY)
    await page.keyboard.press("1")
    await page.wait_for_function(NOTHING_KEPT)


async def test_one_reason_for_several_cases_is_kept_for_these(browser: Browser, base: str, house: House) -> None:
    page = await browser.new_page()
    await page.route("**/nothing-asks-for-this", lambda route: route.abort())
    await log_in(page, base)
    words = page.locator("#reject-words")
    await press(page, "x", "r")
    await words.fill(WHY)
    await page.keyboard.press("Escape")
    await page.locator(".pick").nth(1).check()
    await press(page, "r")
    await expect(words).to_have_value("")
    await page.keyboard.press("Escape")
    await page.locator(".pick").nth(1).uncheck()
    await page.locator("#case").focus()
    await press(page, "r")
    await expect(words).to_have_value(WHY)
    await page.keyboard.press("9")
    await expect(page.locator(".toast.undo")).to_contain_text("Rejected")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).decided_why == f"other: {WHY}"
    await page.wait_for_function(NOTHING_KEPT)


async def test_a_text_that_was_sent_is_forgotten_once_that_can_no_longer_be_undone(browser: Browser, base: str) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await press(page, "e")
    await page.locator("#reply-text").fill(OWN)
    await page.keyboard.press("Control+Enter")
    await expect(page.locator(ID)).to_have_text("post-2")
    await page.evaluate(
        """() => Object.keys(localStorage).filter((name) => name.startsWith("rejoinder-text:")).forEach((name) => {
            const kept = JSON.parse(localStorage.getItem(name));
            localStorage.setItem(name, JSON.stringify({ ...kept, until: kept.until - 10 * 60 * 1000 }));
        })"""
    )
    await page.wait_for_function(NOTHING_KEPT)


async def test_what_was_kept_for_a_day_is_deleted(browser: Browser, base: str) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await press(page, "e")
    await page.locator("#reply-text").fill(OWN)
    await page.evaluate(
        """() => Object.keys(localStorage).filter((name) => name.startsWith("rejoinder-text:")).forEach((name) => {
            const kept = JSON.parse(localStorage.getItem(name));
            localStorage.setItem(name, JSON.stringify({ ...kept, at: kept.at - 25 * 3600 * 1000 }));
        })"""
    )
    await page.reload()
    await expect(page.locator(ID)).to_have_text("post-1")
    await expect(page.locator(OFFER)).to_be_hidden()
    assert await page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('rejoinder-text:'))") == []


async def test_back_reload_and_links_lead_to_case_and_filters(browser: Browser, base: str) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await log_in(page, base)
    await expect(page.locator(ID)).to_have_text("post-1")
    await press(page, "j")
    await expect(page.locator(ID)).to_have_text("post-2")
    await press(page, "j")
    await expect(page.locator(ID)).to_have_text("post-3")
    await page.go_back()
    await expect(page.locator(ID)).to_have_text("post-2")
    await page.reload()
    await expect(page.locator(ID)).to_have_text("post-2")
    await page.locator("#group-filter").select_option("women")
    await expect(page.locator(ID)).to_have_text("post-4")
    await expect(page.locator("#cases .row")).to_have_count(1)
    link = page.url
    assert "group=women" in link and "token" not in link
    await page.go_back()
    await expect(page.locator("#cases .row")).to_have_count(6)
    await expect(page.locator(ID)).to_have_text("post-2")
    other = await context.new_page()
    await other.goto(link)
    await expect(other.locator(ID)).to_have_text("post-4")
    await expect(other.locator("#cases .row")).to_have_count(1)
