"""A moderator asks for another way in the browser, and unfolds what a model read in the post."""

from __future__ import annotations

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from core.domain import Candidate, CaseState, Frame, Origin, Plan, StrategyName
from tests.bot.conftest import House
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import log_in, press
from tests.bot.samples import CHECKS, CRC, add_duelled, add_pending, post
from tests.factories import make_draft, make_grounding

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

TEXT = "Newcomers fill the schools' benches. The schools are the better for it."
READING = "It paints children as a danger."


@pytest_asyncio.fixture(loop_scope="session")
async def waiting(house: House) -> str:
    """Put one case on a desk that offers two strategies; give its key."""
    house.desk.strategies = (StrategyName.COMPOSE, StrategyName.INTENT_FRAMES)
    return await add_pending(house.ledger, post(1))


async def test_another_way_is_chosen_in_the_menu_and_the_reading_unfolds(
    browser: Browser, waiting: str, only_these: str, house: House
) -> None:
    key = waiting
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    await log_in(page, only_these)
    fold = page.locator('[data-slot="reading-fold"]')
    await expect(fold).to_be_hidden()

    await press(page, "d")
    await page.get_by_label("Another way").select_option("intent-frames")
    await page.locator("#redraft [data-choice=positive]").click()
    await expect(page.locator("#redraft")).to_be_hidden()
    await expect(page.locator(".empty h2")).to_be_visible()
    case = await house.desk.case(key)
    assert (case.state, case.request.strategy, case.request.intent) == (CaseState.TRIAGED, "intent-frames", "positive")

    plan = Plan(strategy="intent-frames", frames=(Frame(name="implication", reading=READING),))
    grounding = make_grounding(CRC).model_copy(update={"plan": plan})
    await house.ledger.stages.ground(key, grounding, case.request)
    candidate = Candidate(text=TEXT, origin=Origin.MODEL, checks=CHECKS, strategy="intent-frames")
    draft = make_draft(key, 2, TEXT, origin=Origin.MODEL, model="sample-model", checks=CHECKS)
    await house.ledger.stages.draft(draft.model_copy(update={"candidates": (candidate,)}))
    await page.reload()
    await expect(page.locator('[data-slot="draft"]')).to_have_text(TEXT)
    await expect(page.locator('[data-slot="origin"]')).to_contain_text("sample-model · intent-frames")
    words = page.locator('[data-slot="reading"] dd')
    await expect(words).to_be_hidden()
    await page.get_by_text("The model's reading of the post").click()
    await expect(words).to_have_text(READING)
    await expect(fold).to_contain_text("it may be wrong")
    await expect(page.locator('[data-slot="duels-fold"]')).to_be_hidden()


async def test_the_duels_of_a_tournament_unfold(browser: Browser, only_these: str, house: House) -> None:
    await add_duelled(house.ledger, post(1), "<b>Nobody</b> has to leave.")
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    await log_in(page, only_these)
    told = page.locator('[data-slot="duels"] dd')
    await expect(told).to_have_count(5)
    await expect(told.first).to_be_hidden()
    await page.get_by_text("Duels", exact=True).click()
    await expect(page.locator('[data-slot="duels"] dt')).to_have_text(["1, the draft", "2", "3", "1 – 2", "1 – 3"])
    await expect(told.nth(1)).to_have_text("<b>Nobody</b> has to leave.")
    await expect(told.nth(4)).to_have_text("8 to 2, in the other order 2 to 8: a tie")
    await expect(page.locator('[data-slot="duels-fold"]')).to_contain_text("don't send the others")
