"""Who is logged in, and how one is logged out from elsewhere, as the page shows it."""

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
