"""The desk in Firefox: it opens, is walked through by key, and a case is approved."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.bot.conftest import House
from tests.bot.live.firefox import FIREFOX, firefox_page
from tests.bot.samples import PLATFORM

pytestmark = [
    pytest.mark.live,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not FIREFOX.exists(), reason=f"no Firefox at {FIREFOX}; apt-get install firefox-esr"),
]

ID = '[data-slot="post-id"]'


async def test_a_case_is_found_and_approved_by_key_in_firefox(base: str, house: House, tmp_path: Path) -> None:
    async with firefox_page(tmp_path) as page:
        await page.go(f"{base}#token=ana-secret-token")
        await page.wait_for(ID, "post-1")
        for key, post in (("j", "post-2"), ("j", "post-3"), ("k", "post-2")):
            await page.press(key)
            await page.wait_for(ID, post)
        await asyncio.sleep(0.5)  # the page takes no decision in the first moments of a case
        await page.press("a")
        await page.wait_for(ID, "post-3")
        await page.wait_for(".toast.undo", "Approved")
    assert (await house.desk.case(f"{PLATFORM}/post-2")).state == "approved"
