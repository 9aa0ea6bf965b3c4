"""Only the case on the screen can be decided, however slow the line is, and the text that goes out is the one meant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from bot.permissions import Moderator
from core.domain import Action, Decision, Intent, Origin
from tests.bot.conftest import House
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import log_in, press
from tests.bot.samples import DRAFT, PLATFORM, add_draft, add_pending, post

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

OWN = "A school for all keeps a promise. It is a good one."
NEWER = "Would you like to meet one? They bring biscuits."


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, base: str) -> AsyncIterator[Page]:
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    # The browser's driver misses requests made while it begins to intercept them, so it begins before there are any.
    await page.route("**/nothing-asks-for-this", Route.abort)
    await log_in(page, base)
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-1")
    yield page
    await page.close()


class Gate:
    """A closed gate for requests of one case: they wait until it opens, or fail when it breaks."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.broken = False
        self.waiting = asyncio.Event()

    async def asked(self) -> None:
        """Wait until a request stands at the gate."""
        async with asyncio.timeout(60):
            await self.waiting.wait()

    async def __call__(self, route: Route) -> None:
        self.waiting.set()
        await self.opened.wait()
        await (route.abort() if self.broken else route.continue_())


async def gated(page: Page, post: str) -> Gate:
    gate = Gate()
    await page.route(f"**/v1/cases/{PLATFORM}/{post}", gate)
    return gate


async def states(house: House) -> dict[str, str]:
    return {f"post-{n}": (await house.desk.case(f"{PLATFORM}/post-{n}")).state.value for n in (1, 2, 3)}


NOTHING_DECIDED = {"post-1": "pending", "post-2": "pending", "post-3": "pending"}


@pytest.mark.parametrize("go", ["by key", "by click"])
async def test_no_key_decides_while_another_case_loads(page: Page, house: House, go: str) -> None:
    gate = await gated(page, "post-2")
    await page.wait_for_timeout(450)
    await (page.keyboard.press("j") if go == "by key" else page.locator("#cases .row").nth(1).click())
    await gate.asked()
    for key in ("a", "e", "r", "d", "c", "u", "b"):
        await page.keyboard.press(key)
    await expect(page.locator("#cases .row[aria-current]")).to_have_count(0)
    await expect(page.locator("#cases .row[aria-busy]")).to_have_attribute("data-key", f"{PLATFORM}/post-2")
    assert await page.locator("dialog[open]").count() == 0
    gate.opened.set()
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-2")
    await expect(page.locator("#cases .row[aria-current]")).to_have_attribute("data-key", f"{PLATFORM}/post-2")
    assert await states(house) == NOTHING_DECIDED
    assert (await house.desk.case(f"{PLATFORM}/post-1")).claimed_by is None


async def test_no_button_of_the_case_that_is_left_can_be_clicked(page: Page, house: House) -> None:
    gate = await gated(page, "post-2")
    # The page shows a case anew once it hears from the server, so the button may be another one a moment later.
    place = await page.wait_for_function(
        """() => {
            const box = document.querySelector('.actions [data-do="approve"]')?.getBoundingClientRect();
            return box?.width ? { x: box.x + 5, y: box.y + 5 } : null;
        }"""
    )
    approve = await place.json_value()
    await press(page, "j")
    await gate.asked()
    await page.mouse.click(approve["x"], approve["y"])
    gate.opened.set()
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-2")
    assert await states(house) == NOTHING_DECIDED


async def test_a_case_that_cannot_be_had_leaves_the_one_before_open(page: Page, house: House) -> None:
    gate = await gated(page, "post-2")
    gate.broken = True
    await press(page, "j")
    await gate.asked()
    gate.opened.set()
    await expect(page.locator("#banner")).to_contain_text("can't be reached")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-1")
    await expect(page.locator("#cases .row[aria-current]")).to_have_attribute("data-key", f"{PLATFORM}/post-1")
    await press(page, "a")
    await expect(page.locator(".toast.undo")).to_contain_text("Approved")
    assert (await states(house))["post-1"] == "approved"


async def test_a_decision_under_way_does_not_pull_one_back_from_the_next_case(page: Page, house: House) -> None:
    gate = Gate()
    await page.route(f"**/v1/cases/{PLATFORM}/post-1/decision", gate)
    await press(page, "a")
    await gate.asked()
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-3")
    gate.opened.set()
    await expect(page.locator(".toast.undo")).to_contain_text("Approved")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-3")
    assert await states(house) == {**NOTHING_DECIDED, "post-1": "approved"}


@pytest.mark.parametrize(("key", "text"), [("1", OWN), ("2", DRAFT)])
async def test_approving_with_a_kept_edit_asks_which_text_goes_out(
    page: Page, house: House, key: str, text: str
) -> None:
    await press(page, "e")
    await page.locator("#reply-text").fill(OWN)
    await page.keyboard.press("Escape")
    await press(page, "a")
    await expect(page.locator("#which")).to_be_visible()
    await expect(page.locator("#which-own")).to_have_text(OWN)
    await expect(page.locator("#which-draft")).to_have_text(DRAFT)
    assert await states(house) == NOTHING_DECIDED
    await page.keyboard.press(key)
    await expect(page.locator(".toast.undo")).to_contain_text("Approved")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).final_text == text


async def test_a_menu_decides_only_on_the_case_it_was_opened_for(page: Page, house: House) -> None:
    await press(page, "a")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-2")
    gate = Gate()
    await page.route(f"**/v1/cases/{PLATFORM}/post-1/decision", gate)
    await page.keyboard.press("u")
    await gate.asked()
    await press(page, "r")
    await expect(page.locator("#reject")).to_be_visible()
    gate.opened.set()
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-1")
    await page.keyboard.press("5")
    await expect(page.locator(".toast.bad")).to_contain_text("nothing was decided")
    assert await states(house) == NOTHING_DECIDED


async def draft_anew(house: House, key: str) -> None:
    """Have a colleague ask for another draft, and deliver it."""
    case = await house.desk.case(key)
    redraft = Decision(action=Action.REDRAFT, version=case.version, intent=Intent.QUESTIONING)
    await house.desk.decide(key, redraft, Moderator("ben", "reviewer"))
    await add_draft(house.ledger, key, 2, NEWER)


@pytest.mark.parametrize("before", [DRAFT, ""], ids=["a draft", "no draft"])
async def test_a_draft_that_came_while_one_wrote_is_shown_before_it_can_be_approved(
    page: Page, house: House, before: str
) -> None:
    key = await add_pending(house.ledger, post(7), before, origin=Origin.MODEL if before else Origin.NONE)
    await page.locator(f'#cases .row[data-key="{key}"]').click()
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-7")
    await page.wait_for_timeout(450)
    await page.locator('.actions [data-do="edit"]').or_(page.locator("#reply-text")).filter(visible=True).first.click()
    await draft_anew(house, key)
    await expect(page.locator('[data-slot="history"]')).to_contain_text("ben")
    await expect(page.locator("#cases .row").last).to_contain_text(NEWER)
    await expect(page.locator('.actions [data-do="send"]')).to_be_visible()
    await page.locator("#reply-text").press("Escape")
    await expect(page.locator('[data-slot="draft"]')).to_have_text(NEWER)
    await press(page, "a")
    await expect(page.locator(".toast.undo")).to_contain_text("Approved")
    assert (await house.desk.case(key)).final_text == NEWER


async def test_no_draft_is_approved_but_the_one_on_the_page(page: Page, house: House) -> None:
    draft = page.locator('[data-slot="draft"]')
    await draft.evaluate("(shown) => { shown.textContent = 'An older draft.'; }")
    await press(page, "a")
    await expect(page.locator(".toast.bad")).to_contain_text("newer than the one you saw")
    await expect(draft).to_have_text(DRAFT)
    assert await states(house) == NOTHING_DECIDED
