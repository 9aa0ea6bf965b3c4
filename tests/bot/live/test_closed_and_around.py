"""What is closed is opened again on the page, and what is known around a case stands beside it."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from core.domain import Route, now
from tests.bot.conftest import House
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import Watch, log_in, press
from tests.bot.samples import DRAFT, PLATFORM, add_pending, post, triage_of

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

ID = '[data-slot="post-id"]'


async def test_closed_cases_are_reopened_handed_over_handled_and_retracted_by_keyboard(
    browser: Browser, base: str, house: House
) -> None:
    for number, route in ((20, Route.ESCALATE), (21, Route.DISMISS)):
        flagged = post(number, "Zorblaxians should fear us.")
        await house.ledger.stages.triage(flagged, triage_of(route=route))
    await house.ledger.decisions.approve(f"{PLATFORM}/post-1", 4, "ana", DRAFT, "approved draft 1", now())
    for row in await house.ledger.outbox.lease("test", 30, 50):
        await house.ledger.outbox.note_sent(row, "test")
    await house.ledger.casework.appeal(f"{PLATFORM}/post-1", "site", "<b>It</b> was a joke.")
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, base)
    await log_in(page, base)
    choice = page.locator("#state-filter")

    await expect(choice.locator('[value="appeals"]')).to_have_text("Appeals (1)")
    await choice.select_option("appeals")
    await choice.blur()
    await expect(page.locator(ID)).to_have_text("post-1")
    await expect(page.locator('[data-slot="state"]')).to_contain_text("an appeal waits")
    await expect(page.locator('[data-slot="notes"] .appeal')).to_have_text("<b>It</b> was a joke.")
    await press(page, "t")
    await expect(page.locator("#retract-words")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#retract .error")).to_contain_text("Say in a few words why")
    await page.keyboard.type("a wrong figure")
    await page.keyboard.press("Enter")
    await expect(page.locator('[data-slot="state"]')).to_contain_text("retracted")
    await expect(page.locator('[data-slot="history"] li').first).to_contain_text("reply retracted · ana")
    await expect(choice.locator('[value="appeals"]')).to_have_text("Appeals (0)")

    await choice.select_option("escalated")
    await choice.blur()
    await expect(page.locator(ID)).to_have_text("post-20")
    await press(page, "h")
    await page.keyboard.type("to the police")
    await page.keyboard.press("Enter")
    await expect(page.locator('[data-slot="history"] li').first).to_contain_text("handed over · ana")
    await press(page, "m")
    await page.keyboard.press("Enter")
    await expect(choice.locator('[value="handled"]')).to_have_text("Escalated, handled (1)")
    await expect(page.locator('[data-slot="state"]')).to_contain_text("handled")
    assert (await house.desk.case(f"{PLATFORM}/post-20")).handled

    await choice.select_option("dismissed")
    await choice.blur()
    await expect(page.locator(ID)).to_have_text("post-21")
    await press(page, "d")
    await expect(page.locator('[data-slot="state"]')).to_contain_text("waits for evidence")
    assert (await house.desk.case(f"{PLATFORM}/post-21")).state == "triaged"
    assert watch.faults == []


@pytest.fixture
def quick_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the desk notice sooner that a browser has gone."""
    monkeypatch.setattr("bot.events.HEARTBEAT_S", 1.0)


async def test_a_case_shows_its_author_its_notes_and_who_looks_at_it_too(
    quick_heartbeat: None, browser: Browser, base: str, house: House
) -> None:
    again = post(7, "They came again.").model_copy(update={"author_id": "author-1"})
    await add_pending(house.ledger, again)
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, base)
    await log_in(page, base)
    await expect(page.locator('[data-slot="author"] li')).to_have_count(1)
    await expect(page.locator('[data-slot="author"]')).to_contain_text("migrants")
    assert "author-1" not in await page.content() and "They came again" not in await page.content()
    await expect(page.locator("#connection")).to_have_attribute("data-state", "live")

    other = await (await browser.new_context()).new_page()
    await log_in(other, base, "ben")
    await expect(page.locator('[data-slot="viewing"]')).to_have_text("ben is looking at this case too.")
    await expect(other.locator('[data-slot="viewing"]')).to_have_text("ana is looking at this case too.")

    await press(page, "w")
    await page.keyboard.type("The author apolo")
    await press(other, "c")
    await expect(page.locator('[data-slot="notice"]')).to_contain_text("ben holds this case.")
    await expect(page.locator("#note-text")).to_be_focused()
    await page.keyboard.type("gised.")
    await page.reload()
    await expect(page.locator("#note-text")).to_have_value("The author apologised.")
    await page.locator("#note-text").focus()
    await page.keyboard.press("Control+Enter")
    await expect(page.locator('[data-slot="notes"] li')).to_contain_text("The author apologised.ana")
    await expect(other.locator('[data-slot="notes"] li')).to_contain_text("The author apologised.ana")
    await expect(page.locator("#note-text")).to_have_value("")
    await other.close()
    await expect(page.locator('[data-slot="viewing"]')).to_be_hidden()

    await page.locator('[data-slot="author"] button').click()
    await expect(page.locator(ID)).to_have_text("post-7")
    assert watch.faults == []


async def test_a_note_begun_on_one_case_is_not_another_cases(browser: Browser, base: str, house: House) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await press(page, "w")
    await page.keyboard.type("Half a note")
    await page.keyboard.press("Escape")
    await press(page, "j")
    await expect(page.locator(ID)).to_have_text("post-2")
    await expect(page.locator("#note-text")).to_have_value("")
    await press(page, "k")
    await expect(page.locator("#note-text")).to_have_value("Half a note")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).notes == ()
