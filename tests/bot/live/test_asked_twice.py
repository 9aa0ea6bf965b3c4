"""What is asked for twice, late or in great number happens once, in order and to all."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import Browser, Route, expect

from core.domain import CaseState
from tests.bot.conftest import House
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import log_in, press
from tests.bot.live.test_only_what_is_open import Gate
from tests.bot.samples import PLATFORM, add_pending, post

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

ID = '[data-slot="post-id"]'


async def test_a_note_that_is_sent_twice_in_haste_is_added_once(browser: Browser, base: str, house: House) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await page.locator("#note-text").fill("Seen before.")
    gate = Gate()
    await page.route("**/notes", gate)
    await page.keyboard.press("Control+Enter")
    await gate.asked()
    await page.keyboard.press("Control+Enter")
    gate.opened.set()
    await expect(page.locator("#note-text")).to_have_value("")
    await press(page, "c")
    await expect(page.locator('[data-slot="notice"]')).to_have_text("You hold this case.")
    assert [note.text for note in (await house.desk.case(f"{PLATFORM}/post-1")).notes] == ["Seen before."]


async def test_more_cases_than_one_request_takes_are_decided_at_once(browser: Browser, base: str, house: House) -> None:
    for number in range(7, 103):
        await add_pending(house.ledger, post(number))
    page = await browser.new_page()
    await log_in(page, base)
    await page.locator("#more").click()
    await expect(page.locator("#cases .row")).to_have_count(102)
    await page.evaluate("for (const box of document.querySelectorAll('.pick')) box.click()")
    await expect(page.locator("#selection-count")).to_have_text("102 selected")
    await press(page, "r", "5")
    await expect(page.locator(".toast.undo p")).to_have_text("Rejected: 102 cases")
    assert (await house.desk.counts()).get(CaseState.PENDING, 0) == 0


async def test_what_more_brings_stays_though_the_list_was_being_read_again(
    browser: Browser, base: str, house: House
) -> None:
    for number in range(7, 103):
        await add_pending(house.ledger, post(number))
    page = await browser.new_page()
    await log_in(page, base)
    await expect(page.locator("#cases .row")).to_have_count(100)
    gate = Gate()

    async def late(route: Route) -> None:
        if "cursor=" not in route.request.url and not gate.waiting.is_set():
            gate.waiting.set()
            await gate.opened.wait()
        await route.continue_()

    await page.route("**/v1/cases?*", late)
    await add_pending(house.ledger, post(103))
    await gate.waiting.wait()
    await page.locator("#more").click()
    await expect(page.locator("#cases .row")).to_have_count(103)
    async with page.expect_request(lambda request: "cursor=" in request.url):
        gate.opened.set()
    await expect(page.locator("#cases .row")).to_have_count(103)


async def test_forward_leads_on_after_back_over_a_change_of_filters(browser: Browser, base: str) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await page.locator("#group-filter").select_option("women")
    await expect(page.locator(ID)).to_have_text("post-4")
    await page.go_back()
    await expect(page.locator("#cases .row")).to_have_count(6)
    await page.go_forward()
    await expect(page.locator("#cases .row")).to_have_count(1)
    await expect(page.locator("#group-filter")).to_have_value("women")


async def test_todays_older_answer_does_not_replace_a_newer_one(browser: Browser, base: str, house: House) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await page.route("**/nothing-asks-for-this", Route.abort)
    old = await page.evaluate("fetch('/v1/today').then((answer) => answer.json())")
    gate, first = Gate(), True

    async def late(route: Route) -> None:
        nonlocal first
        if first:
            first = False
            gate.waiting.set()
            await gate.opened.wait()
            await route.fulfill(body=json.dumps(old), content_type="application/json")
        else:
            await route.continue_()

    await page.route("**/v1/today", late)
    await press(page, "y")
    await gate.asked()
    await add_pending(house.ledger, post(7))
    total = page.locator('[data-slot="sum"]')
    await expect(total).to_contain_text("7 posts waiting")
    gate.opened.set()
    await page.wait_for_timeout(300)
    await expect(total).to_contain_text("7 posts waiting")
