"""Who is logged in, and how one is logged out from elsewhere, as the page shows it."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import log_in

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]


async def test_a_browser_left_open_elsewhere_is_logged_out(browser: Browser, base: str) -> None:
    left_open = await (await browser.new_context(user_agent="<b>Forgotten</b> browser")).new_page()
    here = await (await browser.new_context()).new_page()
    await log_in(left_open, base)
    await log_in(here, base)
    await here.locator("#sessions-open").click()
    rows = here.locator("#sessions li")
    await expect(rows).to_have_count(2)
    await expect(rows.filter(has_text="this browser").locator("button")).to_have_count(0)
    await rows.filter(has_text="<b>Forgotten</b> browser").get_by_role("button").click()
    await expect(rows).to_have_count(1)
    await left_open.reload()
    await expect(left_open.locator("#token")).to_be_focused()
