"""A moderator sees what a draft answers, what it rests on and what doesn't fit, before deciding."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from playwright.async_api import Browser, Page, expect

from bot.desk import Desk
from bot.web.application import add_desk
from tests.bot.conftest import TOKENS, House
from tests.bot.live.conftest import CHROMIUM, DeskServer
from tests.bot.live.test_browser import log_in, press
from tests.bot.samples import CLAIM, HEARSAY, PLATFORM, add_answered, post

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

TURNED = "They take \u202eskrow\u202c away."


async def open_desk(browser: Browser, house: House, desk: Desk) -> tuple[Page, DeskServer]:
    app = web.Application()
    add_desk(app, desk, house.ledger, house.changes, house.auth)
    app.cleanup_ctx.append(house.follow_changes)
    server = DeskServer(app)
    await server.start_server()
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    await log_in(page, f"http://{server.host}:{server.port}/")
    return page, server


async def test_claim_writer_facts_and_warnings_are_shown_in_words(
    browser: Browser, house: House, tmp_path: Path
) -> None:
    await add_answered(house.ledger, post(1, TURNED), hate=0.34)
    page, server = await open_desk(browser, house, house.desk)
    await expect(page.locator('[data-slot="answers"]')).to_have_text(f"Answers: {CLAIM.gist}")
    await expect(page.locator('[data-slot="origin"]')).to_have_text("informative · words on file")
    await expect(page.locator('[data-slot="warnings"] li')).to_have_text([
        "The hate probability is only 34 %: is this hateful at all?",
        "Its fact is contested or rests on one study.",
        "Its fact is second-hand: a report tells what the source says.",
        "No speaker of English has read its words on file yet.",
    ])  # fmt: skip
    first = page.locator('[data-slot="evidence"] > li').first
    await expect(first.locator(".evidence-text")).to_have_text(HEARSAY.text)
    await expect(first.locator(".mark")).to_have_text([
        "the draft says this: on file against the claim", "contested or one study", "second-hand",
        "not yet read by a speaker (en)", "Zorblax",
    ])  # fmt: skip
    await expect(page.locator('[data-slot="evidence"] > li').nth(1).locator(".mark")).to_have_count(0)
    await expect(page.locator('[data-slot="checks-sum"]')).to_have_text("All 6 checks pass, 1 close to the limit.")
    await expect(page.locator('[data-slot="findings"] li')).to_have_text(
        ["close to the limit: doesn't repeat the post (repeats: school, children; 0.47 of 0.5)"]
    )
    await expect(page.locator('[data-slot="checks"]')).to_be_hidden()
    await press(page, "b")
    text = page.locator('[data-slot="text"]')
    await expect(text).to_have_text("They take U+202EskrowU+202C away.")
    await expect(page.locator('[data-slot="turned"]')).to_contain_text("turn its order around")
    await page.screenshot(path=tmp_path / "marks.png")
    await server.close()


async def test_an_approval_of_a_covered_post_is_marked_in_the_history(browser: Browser, house: House) -> None:
    for number in (1, 2):
        await add_answered(house.ledger, post(number))
    page, server = await open_desk(browser, house, house.desk)
    await press(page, "a")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-2")
    await press(page, "b", "b", "a")
    await expect(page.locator(".empty h2")).to_be_visible()
    why = [(await house.desk.case(f"{PLATFORM}/post-{number}")).decided_why for number in (1, 2)]
    assert why == ["approved draft 1; the post stayed covered", "approved draft 1"]
    await server.close()


async def test_what_one_person_uncovered_is_covered_for_the_next_one_in_the_same_tab(
    browser: Browser, house: House
) -> None:
    key = await add_answered(house.ledger, post(1))
    page, server = await open_desk(browser, house, house.desk)
    await press(page, "b")
    await expect(page.locator("#tally")).to_have_text("You have looked at 1 post today")
    await page.locator("#log-out").click()
    await page.locator("#token").fill(TOKENS["ben"].token.get_secret_value())
    await page.keyboard.press("Enter")
    await expect(page.locator("#me")).to_have_text("ben, reviewer")
    await expect(page.locator("#case .case-inner")).to_be_visible()
    await expect(page.locator("#tally")).to_be_hidden()
    await press(page, "a")
    await expect(page.locator(".empty h2")).to_be_visible()
    assert (await house.desk.case(key)).decided_why == "approved draft 1; the post stayed covered"
    await server.close()


async def test_where_the_operator_wishes_it_a_covered_post_is_asked_about(browser: Browser, house: House) -> None:
    key = await add_answered(house.ledger, post(1))
    careful = Desk(house.ledger, house.guard, house.settings.model_copy(update={"confirm_covered": True}))
    page, server = await open_desk(browser, house, careful)
    await press(page, "a")
    await expect(page.locator("#covered")).to_be_visible()
    await page.keyboard.press("1")
    await expect(page.locator('[data-slot="text"]')).to_be_visible()
    assert (await house.desk.case(key)).state == "pending"
    await press(page, "a")
    await expect(page.locator(".empty h2")).to_be_visible()
    assert (await house.desk.case(key)).decided_why == "approved draft 1"
    await server.close()


async def test_uncovering_is_told_to_the_server_where_it_is_recorded(browser: Browser, house: House) -> None:
    key = await add_answered(house.ledger, post(1))
    page, server = await open_desk(browser, house, house.desk)
    assert await page.locator("body[data-record-uncovering]").count() == 0
    await page.close()
    await server.close()
    settings = house.settings.model_copy(update={"record_uncovering": True})
    page, server = await open_desk(browser, house, Desk(house.ledger, house.guard, settings))
    async with page.expect_response("**/uncovered") as answer:
        await press(page, "b")
    assert (await answer.value).status == 204
    [held] = await house.ledger.holdings.of([key])
    assert len(held["uncoverings"]) == 1
    await server.close()
