"""Who is logged in, and how one is logged out from elsewhere, as the page shows it."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.bot.conftest import House
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import log_in, press
from tests.bot.live.test_no_word_is_lost import OWN
from tests.bot.samples import PLATFORM

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]


async def test_a_browser_left_open_elsewhere_is_logged_out(browser: Browser, base: str, house: House) -> None:
    left_open = await (await browser.new_context(user_agent="<b>Forgotten</b> browser")).new_page()
    here = await (await browser.new_context()).new_page()
    await log_in(left_open, base)
    await log_in(here, base)
    await here.locator("#sessions-open").click()
    rows = here.locator("#sessions li")
    await expect(rows).to_have_count(2)
    await expect(rows.filter(has_text="this browser").locator("button")).to_have_count(0)
    await press(left_open, "r")
    await expect(left_open.locator("#reject")).to_be_visible()
    await rows.filter(has_text="<b>Forgotten</b> browser").get_by_role("button").click()
    await expect(rows).to_have_count(1)
    case = await house.desk.case(f"{PLATFORM}/post-2")
    await house.ledger.decisions.reject(case.key, case.version, "ben", "tone", case.updated_at)  # its list is read anew
    await expect(left_open.locator("#token")).to_be_focused()
    await expect(left_open.locator("#reject")).to_be_hidden()
    await expect(left_open.locator("#login-error")).to_contain_text("Your session has ended.")
    await expect(left_open.locator("#help-open")).to_be_hidden()


async def test_a_tab_does_nothing_in_the_name_of_somebody_who_logged_in_in_another_tab(
    browser: Browser, base: str, house: House
) -> None:
    context = await browser.new_context()
    anas, leas = await context.new_page(), await context.new_page()
    await log_in(anas, base)
    await press(anas, "e")
    await anas.locator("#reply-text").fill(OWN)
    await log_in(leas, base, "lea")
    await expect(leas.locator("#me")).to_have_text("lea, lead")
    await anas.keyboard.press("Control+Enter")
    await expect(anas.locator("#token")).to_be_focused()
    await expect(anas.locator("#login-error")).to_contain_text("Log in to go on as ana, or reload the page to go on as")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).state == "pending"
    await anas.keyboard.type("ana-secret-token")
    await anas.keyboard.press("Enter")
    await expect(anas.locator("#desk")).to_be_visible()
    await expect(anas.locator("#reply-text")).to_have_value(OWN)
    await anas.locator("#reply-text").press("Control+Enter")
    await expect(anas.locator(".toast.undo")).to_contain_text("Approved with your text")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).decided_by == "ana"
    await press(leas, "c")
    await expect(leas.locator("#login-error")).to_contain_text("ana has logged in with this browser.")


async def test_a_tab_without_a_connection_says_who_has_logged_in_since(browser: Browser, base: str) -> None:
    context = await browser.new_context()
    anas, leas = await context.new_page(), await context.new_page()
    await anas.route("**/v1/events*", lambda route: route.abort())
    await log_in(anas, base)
    await log_in(leas, base, "lea")
    await expect(anas.locator("#login-error")).to_contain_text("lea has logged in with this browser.")
