"""The page "Today", evidence that a moderator finds, the first minute, and care, in a real browser."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from core.domain import TargetGroup, now
from tests.bot.conftest import TOKENS, House
from tests.bot.live.conftest import CHROMIUM, DeskServer
from tests.bot.live.test_browser import Watch, log_in, press
from tests.bot.live.visit import SURROUNDINGS, OneStatement
from tests.bot.samples import HEARSAY, add_pending, fill, post

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

ID = '[data-slot="post-id"]'


@pytest_asyncio.fixture(loop_scope="session")
async def empty(house: House) -> AsyncIterator[str]:
    """Give the address of a demo's desk that no post has reached yet."""
    server = DeskServer(house.app(SURROUNDINGS, OneStatement()))
    await server.start_server()
    yield f"http://{server.host}:{server.port}/"
    await server.close()


async def test_today_shows_what_waits_and_a_lead_sets_exports_and_pauses_there(
    browser: Browser, empty: str, house: House, tmp_path: Path
) -> None:
    keys = await fill(house.ledger)
    await house.ledger.decisions.reject(keys[0], 4, "ben", "tone", now() + timedelta(minutes=1))
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, empty)
    await log_in(page, empty, "lea")
    await press(page, "c", "y")
    await expect(page.locator(".page-title")).to_be_focused()
    await expect(page.locator('[data-slot="mine"] li')).to_have_count(1)
    await expect(page.locator('[data-slot="oldest"] li')).to_have_count(5)
    for line, number in zip(await page.locator('[data-slot="oldest"] li').all(), range(2, 7), strict=True):
        await expect(line).to_contain_text(f"· forum · post-{number} ·")
    await expect(page.locator('[data-slot="team"]')).to_contain_text("lea holds 1")
    await expect(page.locator('[data-slot="figures"]')).to_contain_text("6 received")
    drawn = "document.querySelector('[data-slot=picture]').naturalWidth"
    await page.wait_for_function(f"() => {drawn} > 300")
    await page.locator('[data-slot="intent-form"] select[data-kind="group"]').select_option("women")
    await page.locator('[data-slot="intent"]').select_option("questioning")
    await page.get_by_role("button", name="Set", exact=True).click()
    await expect(page.locator('[data-slot="intents"]')).to_contain_text("women questioning")
    await page.get_by_role("button", name="Pause: harbour").click()
    await expect(page.locator('[data-slot="channels"]')).to_contain_text("paused by lea")
    async with page.expect_download() as download:
        await page.locator('[data-format="csv"]').click()
    await (await download.value).save_as(tmp_path / "decisions.csv")
    assert "forum/post-1" in (tmp_path / "decisions.csv").read_text()
    await page.reload()
    await expect(page.locator(".page-title")).to_be_visible()
    await page.locator('[data-slot="oldest"] button').first.click()
    await expect(page.locator(ID)).to_have_text("post-2")
    await page.go_back()
    await expect(page.locator(".page-title")).to_be_visible()
    assert watch.faults == []


async def test_found_evidence_goes_into_the_case_and_into_the_text_being_written(
    browser: Browser, empty: str, house: House
) -> None:
    await fill(house.ledger)
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, empty)
    await log_in(page, empty)
    await press(page, "f")
    await page.locator("#evidence-words").fill("nothing like it")
    await page.keyboard.press("Enter")
    await expect(page.locator('[data-slot="told"]')).to_contain_text("Nothing fits")
    await page.locator("#evidence-words").fill("jobs")
    await page.keyboard.press("Enter")
    await expect(page.locator(".found li")).to_contain_text("second-hand")
    await page.get_by_role("button", name="Use this one").click()
    await expect(page.locator('[data-slot="evidence"] li').first).to_contain_text(HEARSAY.text)
    await expect(page.locator('[data-slot="history"] li').first).to_contain_text("evidence added · ana")

    await press(page, "e")
    await page.locator("#reply-text").fill("Work grows.")
    await page.get_by_role("button", name="Find other evidence").click()
    await page.locator("#evidence-words").fill("jobs")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Use this one").click()
    await expect(page.locator("#reply-text")).to_have_value(f"Work grows. {HEARSAY.text}")
    assert watch.faults == []


async def test_an_empty_desk_explains_itself_and_its_tour_stores_nothing(
    browser: Browser, empty: str, house: House
) -> None:
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, empty)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(f"{request.method} {request.url}"))
    await page.goto(f"{empty}#token={TOKENS['ana'].token.get_secret_value()}")
    await expect(page.locator(".first > h2")).to_have_text("No post has come in yet.")
    await expect(page.locator('[data-slot="parts"]')).to_contain_text("Worker")
    await expect(page.locator('[data-slot="command"]')).to_contain_text(f"curl {empty}v1/flags")
    await page.wait_for_timeout(500)
    stored = await page.evaluate("JSON.stringify(localStorage)")
    sent.clear()
    await page.get_by_role("button", name="Look at a made-up case").click()
    await expect(page.locator('[data-slot="sample"]')).to_be_visible()
    await expect(page.locator(".post blockquote")).to_be_hidden()
    await page.keyboard.press("ArrowRight")
    await expect(page.locator(".post blockquote").first).to_contain_text("Zorblaxians")
    for _ in range(3):
        await page.keyboard.press("ArrowRight")
    await page.keyboard.press("a")
    await page.keyboard.press("ArrowRight")
    await page.get_by_role("button", name="End the tour").first.click()
    await expect(page.locator(".first > h2")).to_be_visible()
    assert {call for call in sent if not call.startswith("GET") and "viewing" not in call} == set()
    assert await page.evaluate("JSON.stringify(localStorage)") == stored
    assert set((await house.desk.counts()).values()) == {0}

    await add_pending(house.ledger, post(1))
    await expect(page.locator(ID)).to_have_text("post-1")
    await expect(page.locator("#cases .row-sample")).to_be_visible()
    assert watch.faults == []


async def test_a_case_opened_during_the_tour_ends_it_and_undo_leaves_today(
    browser: Browser, base: str, house: House
) -> None:
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, base)
    await log_in(page, base)
    await press(page, "n")
    await expect(page.locator(ID)).to_have_text("post-2")
    await press(page, "?")
    await page.locator("#tour-open").click()
    await expect(page.locator("#tour")).to_be_visible()
    await page.locator("#cases .row").nth(1).click()
    await expect(page.locator(ID)).to_have_text("post-3")
    await expect(page.locator("#tour")).to_be_hidden()
    await press(page, "y")
    await expect(page.locator(".today")).to_be_visible()
    await press(page, "u")
    await expect(page.locator(ID)).to_have_text("post-1")
    assert "page=today" not in page.url
    assert "post-1" in page.url
    assert watch.faults == []


async def test_blur_grey_a_limit_and_breaks_spare_a_moderator_and_stay_in_the_browser(
    browser: Browser, base: str, house: House
) -> None:
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, base)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or ""))
    await log_in(page, base)
    await page.get_by_role("button", name="Settings").click()
    await page.locator("#care-grey").check()
    await page.locator("#care-blur").select_option("3")
    await page.locator("#care-limit").fill("1")
    await page.locator("#care-rest").fill("2")
    await page.locator('[name="group"][value="women"]').check()
    await expect(page.locator("#queue-count")).to_contain_text("1 group hidden")
    await page.keyboard.press("Escape")
    assert await page.evaluate("getComputedStyle(document.documentElement).filter") == "grayscale(1)"
    await page.mouse.move(5, 5)
    await press(page, "b")
    blurred = "getComputedStyle(document.querySelector('.post blockquote')).filter"
    assert await page.evaluate(blurred) == "blur(7px)"
    await page.locator(".post blockquote").first.focus()
    assert await page.evaluate(blurred) == "none"

    await press(page, "j", "b")
    await expect(page.locator("#limit-title")).to_contain_text("You have looked at 1 post within an hour")
    await expect(page.locator('[data-slot="veil"]')).to_be_visible()
    await page.keyboard.press("1")
    await expect(page.locator(".clock")).to_contain_text("1:5")
    await page.get_by_role("button", name="End the break").click()
    await press(page, "b")
    await page.keyboard.press("2")
    await expect(page.locator(".post blockquote").first).to_be_visible()
    assert not any("limit" in body or "blur" in body for body in sent)
    assert (await house.ledger.moderator_settings.hidden("ana")) == {TargetGroup.WOMEN}

    await page.reload()
    await expect(page.locator(".case-inner")).to_be_visible()
    assert await page.evaluate("getComputedStyle(document.documentElement).filter") == "grayscale(1)"
    await page.evaluate("() => { const later = Date.now() + 3000000; Date.now = () => later; }")
    await page.get_by_role("button", name="Settings").click()
    await page.locator("#care-worked").fill("45")
    await page.keyboard.press("Escape")
    await expect(page.locator("#worked")).to_contain_text("You have worked for 50 minutes.")
    await page.get_by_role("button", name="Later").click()
    await expect(page.locator("#worked")).to_be_hidden()
    assert watch.faults == []
