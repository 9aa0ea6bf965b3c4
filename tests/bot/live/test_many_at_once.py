"""Several cases are decided at once: those that stand on the screen, as they stand there, and no other."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.bot.conftest import House
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import Watch, log_in, press
from tests.bot.live.test_only_what_is_open import Gate
from tests.bot.samples import DRAFT, PLATFORM, add_pending, post

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

ID = '[data-slot="post-id"]'
SAME = "Keep them out of our harbour!"


async def test_several_are_selected_and_rejected_for_one_reason(browser: Browser, base: str, house: House) -> None:
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, base)
    await log_in(page, base)
    await press(page, "Shift+J")
    await expect(page.locator(ID)).to_have_text("post-2")
    await press(page, "Shift+J")
    await expect(page.locator("#selection-count")).to_have_text("3 selected")
    await page.locator(".pick").nth(4).check()
    await press(page, "x")
    await expect(page.locator("#selection-count")).to_have_text("3 selected")
    await expect(page.locator(ID)).to_have_text("post-3")
    await press(page, "r")
    await expect(page.locator("#reject-title")).to_have_text("Why do you reject 3 cases?")
    await expect(page.locator("#reject .listed li")).to_have_count(3)
    case = await house.desk.case(f"{PLATFORM}/post-2")
    await house.ledger.decisions.reject(case.key, case.version, "ben", "language", case.updated_at)
    await page.keyboard.press("5")
    await expect(page.locator(".toast.undo p")).to_have_text("Rejected: 2 cases")
    await expect(page.locator(".toast.bad")).to_contain_text("Not decided: 1 case. ")
    decided = {n: (await house.desk.case(f"{PLATFORM}/post-{n}")).decided_why for n in range(1, 7)}
    assert decided == {1: "tone", 2: "language", 3: None, 4: None, 5: "tone", 6: None}
    await expect(page.locator("#selection")).to_be_hidden()
    # Everything is out of reach: a list that could be refreshed would take the banner away again.
    await page.route("**/v1/**", lambda route: route.abort())
    await page.locator(".toast.undo button").click()
    await expect(page.locator("#banner")).to_contain_text("can't be reached")
    await expect(page.locator(".toast.bad").last).to_contain_text("Look whether it was done")
    await page.unroute("**/v1/**")
    await page.locator(".toast.undo button").click()
    await expect(page.locator(".toast.good")).to_have_text("Taken back: 2 cases.")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).state == "pending"
    assert watch.faults == []


async def test_the_same_text_is_one_decision_with_a_reply_for_each(browser: Browser, base: str, house: House) -> None:
    for number in range(10, 15):
        text = DRAFT if number in (12, 13) else f"{DRAFT} {number}"
        await add_pending(house.ledger, post(number, SAME), text)
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, base)
    await page.goto(f"{base}#case={PLATFORM}/post-10&token=ana-secret-token")
    await expect(page.locator('[data-slot="same-text"]')).to_contain_text("4 waiting")
    await expect(page.locator("#cases .row").nth(6)).to_contain_text("same text × 5")
    await press(page, "v")
    rows = page.locator("#same-cases li")
    await expect(rows).to_have_count(5)
    await expect(rows.nth(3)).to_contain_text("the same reply as one above")
    await expect(page.locator('[data-same="approve"]')).to_have_text("Approve 4 cases")
    case = await house.desk.case(f"{PLATFORM}/post-11")
    await house.ledger.decisions.reject(case.key, case.version, "ben", "tone", case.updated_at)
    await expect(rows.nth(1)).to_contain_text("changed by ben meanwhile")
    await expect(page.locator('[data-same="approve"]')).to_have_text("Approve 3 cases")
    await page.locator('[data-same="approve"]').click()
    await expect(page.locator(".toast.undo p")).to_have_text("Approved: 3 cases")
    sent = {n: (await house.desk.case(f"{PLATFORM}/post-{n}")).final_text for n in range(10, 15)}
    assert sent == {10: f"{DRAFT} 10", 11: None, 12: DRAFT, 13: None, 14: f"{DRAFT} 14"}
    await expect(page.locator("#cases .row")).to_have_count(7)
    assert watch.faults == []


async def test_a_case_that_changes_on_the_way_is_reported_and_not_decided(
    browser: Browser, base: str, house: House
) -> None:
    for number in (10, 11):
        await add_pending(house.ledger, post(number, SAME), f"{DRAFT} {number}")
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    await page.route("**/nothing-asks-for-this", lambda route: route.abort())
    gate = Gate()
    await page.route("**/v1/decisions", gate)
    await page.goto(f"{base}#case={PLATFORM}/post-10&token=ana-secret-token")
    await expect(page.locator('[data-slot="same-open"]')).to_be_visible()
    await press(page, "v")
    await page.locator('[data-same="approve"]').click()
    await gate.asked()
    await house.ledger.casework.note(f"{PLATFORM}/post-11", "ben", "Look again.")
    gate.opened.set()
    await expect(page.locator(".toast.undo p")).to_have_text("Approved: 1 case")
    await expect(page.locator(".toast.bad")).to_contain_text("Not decided: 1 case.")
    assert (await house.desk.case(f"{PLATFORM}/post-11")).state == "pending"


async def test_filters_are_saved_under_a_name_and_come_back(browser: Browser, base: str) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await page.locator("#group-filter").select_option("women")
    await expect(page.locator("#cases .row")).to_have_count(1)
    saved = page.locator("#saved-filters")
    await saved.select_option("+")
    await page.keyboard.type("Mine to do")
    await page.keyboard.press("Enter")
    await expect(saved).to_have_value("=Mine to do")
    await page.locator("#group-filter").select_option("")
    await expect(page.locator("#cases .row")).to_have_count(6)
    await expect(saved).to_have_value("")
    await page.reload()
    await saved.select_option("=Mine to do")
    await expect(page.locator("#cases .row")).to_have_count(1)
    await saved.select_option("-")
    await expect(saved.locator("option")).to_have_count(2)
