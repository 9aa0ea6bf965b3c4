"""A line that died without a word, a decision without an answer, more tabs than lines: the page says so and goes on."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Page, expect

from bot.permissions import Moderator
from core.domain import Action, Decision
from tests.bot.conftest import House
from tests.bot.live.bad_line import DeadLine
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import log_in, press
from tests.bot.live.test_only_what_is_open import Gate
from tests.bot.samples import PLATFORM, add_escalated, post

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

ID = '[data-slot="post-id"]'
WRITES_END_WHEN_TOLD = """
const limits = [];
AbortSignal.timeout = () => { const limit = new AbortController(); limits.push(limit); return limit.signal; };
window.giveUp = () => limits.forEach((limit) => limit.abort(new DOMException("The time is over.", "TimeoutError")));"""

HIDDEN_WHEN_TOLD = """
Object.defineProperty(document, "hidden", { get: () => window.isAway === true });
window.turn = (isAway) => { window.isAway = isAway; document.dispatchEvent(new Event("visibilitychange")); };"""
LINES = 6
"""As many connections a browser opens to one server over HTTP/1.1."""


@pytest.fixture
def quick_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.events.HEARTBEAT_S", 0.4)


async def gate_of_decision(page: Page, post: str) -> Gate:
    gate = Gate()
    await page.route(f"**/v1/cases/{PLATFORM}/{post}/decision", gate)
    return gate


async def test_a_dead_line_is_noticed_and_what_was_missed_is_made_up_for(
    quick_heartbeat: None, browser: Browser, base: str, house: House
) -> None:
    line = DeadLine(urlsplit(base).port or 0)
    server = await line.open()
    page = await browser.new_page()
    await log_in(page, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    connection = page.locator("#connection")
    await expect(connection).to_have_attribute("data-state", "live")
    line.die()
    case = await house.desk.case(f"{PLATFORM}/post-1")
    rejection = Decision(action=Action.REJECT, version=case.version, reason="tone")
    await house.desk.decide(case.key, rejection, Moderator("ben", "reviewer"))
    await expect(connection).to_have_attribute("data-state", "away")
    await expect(page.locator("#banner")).to_contain_text("The connection is lost.")
    line.revive()
    await expect(connection).to_have_attribute("data-state", "live")
    await expect(page.locator('[data-slot="state"]')).to_contain_text("rejected by ben")
    server.close()


async def test_a_decision_without_an_answer_is_told_and_the_next_one_is_taken(
    browser: Browser, base: str, house: House
) -> None:
    page = await browser.new_page()
    await page.add_init_script(WRITES_END_WHEN_TOLD)
    await log_in(page, base)
    gate = await gate_of_decision(page, "post-1")
    await press(page, "a")
    await gate.asked()
    await expect(page.locator(".toast.sending")).to_have_text("Your decision is being sent…")
    await press(page, "j")
    await expect(page.locator(ID)).to_have_text("post-2")
    await press(page, "n")
    await expect(page.locator(".toast.bad")).to_have_text(
        "Your last decision is still being sent; this one was not taken."
    )
    assert (await house.desk.case(f"{PLATFORM}/post-2")).state == "pending"
    await page.evaluate("giveUp()")
    await expect(page.locator(".toast.bad").last).to_contain_text("Look whether it was done before you try again.")
    await expect(page.locator(".toast.sending")).to_have_count(0)
    await press(page, "n")
    await expect(page.locator(".toast.undo")).to_contain_text("Dismissed")
    assert (await house.desk.case(f"{PLATFORM}/post-2")).state == "dismissed"


async def test_pages_that_nobody_sees_leave_the_lines_to_the_one_that_is_looked_at(
    browser: Browser, base: str, house: House
) -> None:
    context = await browser.new_context()
    await context.add_init_script(HIDDEN_WHEN_TOLD)
    hidden = []
    for _ in range(LINES):
        page = await context.new_page()
        await log_in(page, base)
        await expect(page.locator("#connection")).to_have_attribute("data-state", "live")
        await page.evaluate("turn(true)")
        hidden.append(page)
    page = await context.new_page()
    await log_in(page, base)
    await press(page, "a")
    await expect(page.locator(".toast.undo")).to_contain_text("Approved")
    await expect(page.locator(ID)).to_have_text("post-2")
    await expect(hidden[0].locator('[data-slot="state"]')).to_have_text("waits for a decision")
    await hidden[0].evaluate("turn(false)")
    await expect(hidden[0].locator('[data-slot="state"]')).to_contain_text("approved by ana")
    await expect(hidden[0].locator("#cases .row")).to_have_count(5)


async def test_a_leads_page_that_nobody_sees_still_counts_escalations_in_its_title(
    browser: Browser, base: str, house: House
) -> None:
    page = await (await browser.new_context()).new_page()
    await page.add_init_script(HIDDEN_WHEN_TOLD)
    await page.clock.install()
    await log_in(page, base, "lea")
    await expect(page).to_have_title("(6) Rejoinder desk")
    await page.evaluate("turn(true)")
    await add_escalated(house.ledger, post(20))
    await page.clock.run_for(61_000)
    await expect(page).to_have_title("⚠ 1 (6) Rejoinder desk")
