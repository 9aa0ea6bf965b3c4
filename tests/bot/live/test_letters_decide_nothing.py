"""Whoever writes keeps writing: no answer takes the field away, and no letter of a word decides on a case."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.bot.conftest import House
from tests.bot.live.conftest import CHROMIUM
from tests.bot.live.test_browser import press
from tests.bot.live.test_only_what_is_open import Gate
from tests.bot.live.test_only_what_is_open import page as page
from tests.bot.samples import PLATFORM

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]

ID, NOTE, REPLY = '[data-slot="post-id"]', "#note-text", "#reply-text"
OWN = "A school for all keeps a promise. It is a good one."
WORDS = " calm; a man I know, no rival"
LETTER = """(key) => (document.activeElement ?? document.body)
  .dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))"""


async def gate_of(page: Page, path: str) -> Gate:
    gate = Gate()
    await page.route(f"**/v1/cases/{PLATFORM}/{path}", gate)
    return gate


async def undecided(house: House, *numbers: int) -> bool:
    cases = [await house.desk.case(f"{PLATFORM}/post-{number}") for number in numbers]
    return all(case.state == "pending" and case.claimed_by is None for case in cases)


async def test_a_note_begun_while_a_decision_is_on_its_way_is_written_to_its_end(page: Page, house: House) -> None:
    gate = await gate_of(page, "post-1/decision")
    await press(page, "a")
    await gate.asked()
    await page.keyboard.press("w")
    await page.keyboard.type("Ben is")
    gate.opened.set()
    await expect(page.locator(".toast.undo")).to_contain_text("Approved")
    await expect(page.locator('[data-slot="state"]')).to_contain_text("approved by ana")
    await page.keyboard.type(WORDS)
    await expect(page.locator(NOTE)).to_have_value(f"Ben is{WORDS}")
    await expect(page.locator(ID)).to_have_text("post-1")
    assert await undecided(house, 2, 3, 4, 5, 6)
    await page.keyboard.press("Escape")
    await press(page, "j")
    await expect(page.locator(ID)).to_have_text("post-2")


@pytest.mark.parametrize(("begun", "left"), [(" Look", "Look"), (" ", "")])
async def test_a_second_note_begun_while_the_first_is_sent_keeps_its_field_and_is_all_that_stays_in_it(
    page: Page, house: House, begun: str, left: str
) -> None:
    gate = await gate_of(page, "post-1/notes")
    await page.keyboard.press("w")
    await page.keyboard.type("First.")
    await page.keyboard.press("Control+Enter")
    await gate.asked()
    await page.keyboard.type(begun)
    gate.opened.set()
    await expect(page.locator('[data-slot="notes"] .note-text')).to_have_text("First.")
    await expect(page.locator(NOTE)).to_be_focused()
    await page.keyboard.type(WORDS)
    await expect(page.locator(NOTE)).to_have_value(f"{left}{WORDS}")
    assert await undecided(house, 1, 2, 3)


async def test_a_note_that_was_sent_gives_the_keys_back(page: Page, house: House) -> None:
    await page.keyboard.press("w")
    await page.keyboard.type("Seen before.")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator('[data-slot="notes"] .note-text')).to_have_text("Seen before.")
    await expect(page.locator("#case")).to_be_focused()
    await press(page, "c")
    await expect(page.locator('[data-slot="notice"]')).to_have_text("You hold this case.")


async def test_a_reply_begun_while_an_undo_is_on_its_way_keeps_its_field(page: Page, house: House) -> None:
    await press(page, "a")
    await expect(page.locator(ID)).to_have_text("post-2")
    gate = await gate_of(page, "post-1/decision")
    await press(page, "u")
    await gate.asked()
    await press(page, "e")
    await page.keyboard.press("Control+a")
    await page.keyboard.type("And")
    gate.opened.set()
    await expect(page.locator(".toast.good")).to_contain_text("Taken back")
    await expect(page.locator("#cases .row")).to_have_count(6)
    await page.keyboard.type(WORDS)
    await expect(page.locator(REPLY)).to_have_value(f"And{WORDS}")
    await expect(page.locator(ID)).to_have_text("post-2")
    assert await undecided(house, 1, 2, 3)


async def test_what_is_written_after_a_reply_was_sent_is_kept_with_its_case(page: Page, house: House) -> None:
    gate = await gate_of(page, "post-1/decision")
    await press(page, "e")
    await page.locator(REPLY).fill(OWN)
    await page.keyboard.press("Control+Enter")
    await gate.asked()
    await page.keyboard.type(" And")
    gate.opened.set()
    await expect(page.locator('[data-slot="notice"]')).to_contain_text("no longer open")
    await page.keyboard.type(WORDS)
    await expect(page.locator(REPLY)).to_have_value(f"{OWN} And{WORDS}")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).final_text == OWN
    assert await undecided(house, 2, 3)


@pytest.mark.parametrize("end", ["Escape", "click"])
async def test_letters_of_a_word_whose_field_lost_the_focus_are_no_keys(page: Page, house: House, end: str) -> None:
    await page.wait_for_timeout(450)
    await page.keyboard.press("w")
    await page.evaluate(
        f"() => {{ const type = {LETTER}; type('s'); document.activeElement.blur(); [...'cane'].map(type); }}"
    )
    await expect(page.locator(REPLY)).to_be_hidden()
    await (page.keyboard.press(end) if end == "Escape" else page.locator("#case").click(position={"x": 3, "y": 3}))
    await page.keyboard.press("c")
    await expect(page.locator('[data-slot="notice"]')).to_have_text("You hold this case.")
    assert await undecided(house, 2)
    assert (await house.desk.case(f"{PLATFORM}/post-1")).state == "pending"
