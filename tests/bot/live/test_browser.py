"""Drive the web desk in a real browser, by keyboard only."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Browser, ConsoleMessage, Page, expect

from bot.web.application import page_address
from core.domain import Route
from tests.bot.conftest import TOKENS, House
from tests.bot.live.conftest import CHROMIUM, DeskServer
from tests.bot.samples import (
    DRAFT,
    PLATFORM,
    SHORTENED,
    add_doubtful,
    add_draft,
    add_escalated,
    add_unsure,
    post,
    triage_of,
)

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}; apt-get install chromium"),
]


async def offered_actions(page: Page) -> list[str]:
    """Return the words and the key of each button that the open case offers."""
    visible = page.locator(".actions button:visible")
    return [" ".join(words.split()) for words in await visible.all_inner_texts()]


class Watch:
    """A log of what a page must never do: dialogs, script errors, policy violations, requests to elsewhere."""

    def __init__(self, page: Page, base: str) -> None:
        self.faults: list[str] = []
        self._base = base
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", self._heard)
        page.on("request", lambda request: self._asked(request.url))

    def _heard(self, message: ConsoleMessage) -> None:
        # A refusal (409, 422) is logged by the browser as a failed resource; everything else is a fault.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.faults.append(f"{message.type}: {message.text}")

    def _asked(self, url: str) -> None:
        if not url.startswith(self._base):
            self.faults.append(f"request: {url}")


async def log_in(page: Page, base: str, name: str = "ana") -> None:
    await page.goto(f"{base}#token={TOKENS[name].token.get_secret_value()}")
    await expect(page.locator("#case .case-inner")).to_be_visible()


async def press(page: Page, *keys: str) -> None:
    # The page takes no decision in the first moments of a case; a person doesn't either.
    for key in keys:
        await page.wait_for_timeout(450)
        await page.keyboard.press(key)


async def test_from_first_draft_to_approval_undo_rejection_and_redraft_by_keyboard(
    browser: Browser, base: str, house: House, tmp_path: Path
) -> None:
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, base)
    await log_in(page, base)
    assert "token" not in page.url
    draft = page.locator('[data-slot="draft"]')
    await expect(draft).to_have_text(DRAFT)
    await expect(page.locator("#queue-count")).to_have_text("6 listed, oldest first")
    await page.screenshot(path=tmp_path / "first.png")

    post = page.locator('[data-slot="text"]')
    assert "Newcomers" not in await page.content()
    await press(page, "b")
    await expect(post).to_have_text("Newcomers ruin our schools, keep their children out.")
    await expect(page.locator("#tally")).to_have_text("You have looked at 1 post today")

    await press(page, "e")
    area = page.locator("#reply-text")
    await expect(area).to_be_focused()
    await area.fill("This is forbidden. It fails.")
    await expect(page.locator('[data-slot="verdict"]')).to_have_text("1 of 2 checks fails.")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator('[data-slot="verdict"]')).to_contain_text("The text fails: insult.")
    await page.screenshot(path=tmp_path / "editor.png")
    await area.fill("A school for all keeps a promise. It is a good one.")
    await page.keyboard.press("Control+Enter")
    toast = page.locator(".toast.undo")
    await expect(toast).to_contain_text("Approved with your text")
    await expect(toast).to_contain_text(" s")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-2")
    await page.screenshot(path=tmp_path / "toast.png")
    edited = await house.desk.case(f"{PLATFORM}/post-1")
    assert edited.final_text == "A school for all keeps a promise. It is a good one."

    await press(page, "u")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-1")
    await expect(toast).to_have_count(0)
    assert (await house.desk.case(edited.key)).state == "pending"

    await press(page, "r")
    await expect(page.locator("#reject")).to_be_visible()
    await page.screenshot(path=tmp_path / "reject.png")
    await page.keyboard.press("5")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-2")
    assert (await house.desk.case(edited.key)).decided_why == "tone"

    await press(page, "d")
    await expect(page.locator("#redraft")).to_be_visible()
    await page.keyboard.press("2")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-3")
    sent_back = await house.desk.case(f"{PLATFORM}/post-2")
    assert (sent_back.state, sent_back.request.number, sent_back.request.intent) == ("grounded", 2, "questioning")
    await add_draft(house.ledger, sent_back.key, 2, "Would you like to meet one? They bring biscuits.")
    await expect(page.locator("#cases .row").first).to_contain_text("They bring biscuits.")

    await press(page, "c")
    await expect(page.locator('[data-slot="notice"]')).to_have_text("You hold this case.")
    await press(page, "a")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-4")
    assert (await house.desk.case(f"{PLATFORM}/post-3")).state == "approved"
    assert watch.faults == []


async def test_a_hostile_post_is_only_ever_text(browser: Browser, base: str) -> None:
    page = await browser.new_page()
    watch = Watch(page, base)
    await log_in(page, base)
    await press(page, "j", "b")
    quote = page.locator('[data-slot="text"]')
    await expect(quote).to_contain_text('<img src=x onerror="alert(1)"><script>alert(2)</script>')
    assert await quote.locator("*").count() == 0
    assert await page.locator("body script, body img:not([alt=''])").count() == 0
    assert await page.locator('[data-slot="evidence"] a').count() == 1
    assert await page.locator("a[href^='javascript']").count() == 0
    assert watch.faults == []


async def test_shortened_evidence_shows_the_whole_paragraph_on_request(
    browser: Browser, base: str, tmp_path: Path
) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await press(page, "j", "j")
    first = page.locator('[data-slot="evidence"] li').first
    await expect(first.locator("> .evidence-text")).to_have_text(SHORTENED.summary)
    await expect(first.get_by_text(SHORTENED.text)).to_be_hidden()
    await first.locator("summary").focus()
    await page.keyboard.press("Enter")
    await expect(first.get_by_text(SHORTENED.text)).to_be_visible()
    await page.screenshot(path=tmp_path / "shortened.png", full_page=True)
    await expect(page.locator('[data-slot="evidence"] li').nth(1).locator("details")).to_have_count(0)


async def test_keys_rest_while_one_types_and_the_text_outlives_what_others_do(
    browser: Browser, base: str, house: House
) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    other = await browser.new_page()
    await log_in(other, base, "ben")
    await press(page, "e")
    area = page.locator("#reply-text")
    await area.fill("")
    await page.keyboard.type("bear jug", delay=5)
    await press(other, "c")
    await expect(page.locator('[data-slot="notice"]')).to_contain_text("ben holds this case.")
    await expect(area).to_have_value("bear jug")
    await expect(area).to_be_focused()
    await press(other, "a")
    await expect(page.locator('[data-slot="notice"]')).to_contain_text("approved by ben")
    await expect(area).to_have_value("bear jug")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator(".toast.bad")).to_contain_text("ben approved it")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).decided_by == "ben"


async def test_a_case_without_a_draft_opens_for_writing(browser: Browser, base: str, tmp_path: Path) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await press(page, "j", "j", "j", "j")
    await expect(page.locator("#reply-text")).to_be_visible()
    await expect(page.locator('[data-slot="note"]')).to_contain_text("No statement fits this post")
    await expect(page.locator('[data-slot="evidence"] li')).to_have_count(1)
    await expect(page.locator('.actions [data-do="approve"]')).to_be_hidden()
    await page.screenshot(path=tmp_path / "no_draft.png")


async def test_a_case_in_doubt_is_dismissed_or_sent_for_a_draft_by_one_key(
    browser: Browser, base: str, house: House, tmp_path: Path
) -> None:
    for number, hate in ((7, 0.12), (8, 0.31)):
        await add_doubtful(house.ledger, post(number, "The weather is lovely today."), hate)
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, base)
    await log_in(page, base)
    await expect(page.locator("#queue-count")).to_have_text("6 listed, oldest first")
    choice = page.locator("#state-filter")
    await expect(choice.locator('[value="doubtful"]')).to_have_text("Is this hateful at all? (2)")
    await expect(choice.locator('[value="waiting"]')).to_have_text("Waiting (6)")
    await choice.select_option("doubtful")
    await choice.blur()
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-7")
    note = page.locator('[data-slot="note"]')
    await expect(note).to_contain_text("Is this hateful at all? The hate probability is 12 %.")
    await expect(page.locator("#cases .row").first).to_contain_text("In doubt: hate probability 12 %")
    await expect(page.locator('[data-slot="evidence"]')).to_be_hidden()
    await expect(page.locator("#reply-text")).to_be_hidden()
    assert "lovely" not in await page.content()
    assert await offered_actions(page) == [
        "Not hateful n", "Write a draft d", "Own words e", "Reject r", "Claim c",
    ]  # fmt: skip
    await page.screenshot(path=tmp_path / "doubt.png")

    await press(page, "n")
    await expect(page.locator(".toast.undo")).to_contain_text("Dismissed as not hateful: post against migrants")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-8")
    dismissed = await house.desk.case(f"{PLATFORM}/post-7")
    assert (dismissed.state, dismissed.decided_by, dismissed.decided_why) == ("dismissed", "ana", "not_hateful")
    await press(page, "u")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-7")
    assert (await house.desk.case(dismissed.key)).doubtful

    await press(page, "d")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-8")
    await expect(page.locator("#redraft")).to_be_hidden()
    drafted = await house.desk.case(dismissed.key)
    assert (drafted.state, drafted.request.number) == ("grounded", 2)
    await add_draft(house.ledger, drafted.key, 2, DRAFT)
    await expect(choice.locator('[value="waiting"]')).to_have_text("Waiting (7)")
    await press(page, "n")
    await expect(page.locator(".empty h2")).to_have_text("Nothing is in doubt.")
    assert watch.faults == []


async def test_evidence_that_may_not_answer_a_post_is_shown_and_a_draft_of_it_requested_by_one_key(
    browser: Browser, base: str, house: House, tmp_path: Path
) -> None:
    key = await add_unsure(house.ledger, post(7, "The weather is lovely today."))
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    watch = Watch(page, base)
    await log_in(page, base)
    row = page.locator("#cases .row").last
    await expect(row).to_contain_text("No draft: see the evidence")
    await row.click()
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-7")
    await expect(page.locator('[data-slot="note"]')).to_contain_text("The evidence may not answer this post.")
    await expect(page.locator('[data-slot="evidence"]')).to_be_visible()
    await expect(page.locator("#reply-text")).to_be_hidden()
    assert await offered_actions(page) == [
        "Write a draft d", "Own words e", "Reject r", "Not hateful n", "Claim c",
    ]  # fmt: skip
    await page.screenshot(path=tmp_path / "unsure.png")

    await press(page, "d")
    await expect(page.locator('[data-slot="post-id"]')).not_to_have_text("post-7")
    await expect(page.locator("#redraft")).to_be_hidden()
    requested = await house.desk.case(key)
    assert (requested.state, requested.request.number) == ("grounded", 2)
    assert watch.faults == []


async def test_any_waiting_case_is_dismissed_by_the_same_key(browser: Browser, base: str, house: House) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await press(page, "n")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-2")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).state == "dismissed"


async def test_a_lead_is_told_of_escalations_at_once_and_a_reviewer_is_not(
    browser: Browser, base: str, house: House, tmp_path: Path
) -> None:
    reason = "It threatens people with violence, or calls for it: a person has to look, so nothing is drafted."
    triage = triage_of(route=Route.ESCALATE).model_copy(update={"reason": reason})
    lead = await (await browser.new_context(viewport={"width": 1440, "height": 900})).new_page()
    reviewer = await (await browser.new_context()).new_page()
    await log_in(lead, base, "lea")
    await log_in(reviewer, base, "ana")
    for page in (lead, reviewer):
        await expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    notice = lead.locator("#escalations")
    await house.ledger.stages.triage(post(20, "Zorblaxians should fear us."), triage)
    await expect(notice).to_contain_text("1 post was escalated. It threatens people with violence, or calls for it.")
    await press(lead, "g")
    await expect(lead.locator('[data-slot="post-id"]')).to_have_text("post-20")
    await expect(notice).to_be_hidden()
    for number in (21, 22, 23):
        await house.ledger.stages.triage(post(number, "Zorblaxians should fear us."), triage)
    await expect(notice).to_contain_text("3 posts were escalated.")
    await lead.screenshot(path=tmp_path / "escalations.png")
    assert "fear us" not in await lead.content()
    await press(lead, "g")
    await expect(lead.locator("#queue-count")).to_have_text("4 listed, newest first")
    await expect(lead.locator('[data-slot="post-id"]')).to_have_text("post-23")
    await expect(reviewer.locator('#state-filter [value="escalated"]')).to_have_text("Escalated to people (4)")
    await expect(reviewer.locator("#escalations")).to_be_hidden()


async def test_a_lead_who_comes_later_is_told_what_was_escalated_and_the_title_counts_it(
    browser: Browser, base: str, house: House
) -> None:
    for number in (20, 21):
        await add_escalated(house.ledger, post(number))
    handled = await house.desk.case(await add_escalated(house.ledger, post(22)))
    await house.ledger.casework.handle(handled.key, handled.version, "ben", "reported")
    lead = await (await browser.new_context()).new_page()
    reviewer = await (await browser.new_context()).new_page()
    await log_in(reviewer, base, "ana")
    await log_in(lead, base, "lea")
    await expect(lead.locator("#escalations")).to_contain_text("2 posts were escalated. The newest:")
    await expect(lead).to_have_title("⚠ 2 (6) Rejoinder desk")
    await press(lead, "g")
    await expect(lead.locator("#queue-count")).to_have_text("2 listed, newest first")
    for number in (20, 21):
        case = await house.desk.case(f"{PLATFORM}/post-{number}")
        await house.ledger.casework.handle(case.key, case.version, "ben", "reported")
    await expect(lead).to_have_title("(6) Rejoinder desk")
    await expect(reviewer).to_have_title("(6) Rejoinder desk")
    await expect(reviewer.locator("#escalations")).to_be_hidden()


async def test_what_was_decided_can_be_looked_at_and_taken_back(browser: Browser, base: str, house: House) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await press(page, "a")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-2")
    await page.locator("#state-filter").select_option("approved")
    await expect(page.locator('[data-slot="state"]')).to_contain_text(
        "approved by ana: approved draft 1; the post stayed covered · final in"
    )
    await expect(page.locator('[data-slot="reply-title"]')).to_have_text("Reply as approved")
    await page.locator('[data-do="undo"]').click()
    await expect(page.locator('[data-slot="state"]')).to_have_text("waits for a decision")
    for state, words in (("released", "Nothing here."), ("waiting", "6 listed, oldest first")):
        await page.locator("#state-filter").select_option(state)
        await expect(page.locator("#queue-count")).to_have_text(words)
    assert (await house.desk.case(f"{PLATFORM}/post-1")).state == "pending"


async def test_a_lead_takes_over_and_sends_past_the_checks(browser: Browser, base: str, house: House) -> None:
    page = await browser.new_page()
    await log_in(page, base, "ben")
    await press(page, "c")
    await expect(page.locator('[data-slot="notice"]')).to_have_text("You hold this case.")
    lead = await (await browser.new_context()).new_page()
    await log_in(lead, base, "lea")
    await expect(lead.locator('.actions [data-do="approve"]')).to_be_hidden()
    await press(lead, "c")
    await expect(page.locator('[data-slot="notice"]')).to_contain_text("lea holds this case.")
    await press(lead, "e")
    await lead.locator("#reply-text").fill("This is forbidden. It fails.")
    await lead.locator('[data-do="override"]').click()
    await expect(lead.locator('[data-slot="post-id"]')).to_have_text("post-2")
    assert (await house.desk.case(f"{PLATFORM}/post-1")).decided_by == "lea"


async def test_the_list_is_searched(browser: Browser, base: str) -> None:
    page = await browser.new_page()
    await log_in(page, base)
    await press(page, "/")
    await page.keyboard.type("wheel lantern")
    await expect(page.locator("#cases .row")).to_have_count(0)
    await page.locator("#search").fill("ramp disab")
    await expect(page.locator("#queue-count")).to_have_text("1 found, oldest first")
    await page.keyboard.press("Enter")
    await press(page, "j")
    await expect(page.locator('[data-slot="post-id"]')).to_have_text("post-3")


async def test_a_lost_connection_is_said_and_mended(browser: Browser, base: str, house: House) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    await log_in(page, base)
    await expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    await context.set_offline(True)
    await press(page, "c")
    await expect(page.locator("#banner")).to_contain_text("can't be reached")
    await expect(page.locator(".toast.bad")).to_contain_text("Look whether it was done")
    await context.set_offline(False)
    await press(page, "c")
    await expect(page.locator("#banner")).to_be_hidden()
    await expect(page.locator('[data-slot="notice"]')).to_have_text("You hold this case.")


async def test_logging_in_by_hand_refuses_a_wrong_token(browser: Browser, base: str) -> None:
    page = await browser.new_page()
    await page.goto(base)
    await expect(page.locator("#token")).to_be_focused()
    await page.keyboard.type("wrong-wrong")
    await page.keyboard.press("Enter")
    await expect(page.locator("#login-error")).to_contain_text("opens no desk")
    await page.keyboard.type("lea-secret-token")
    await page.keyboard.press("Enter")
    await expect(page.locator("#me")).to_have_text("lea, lead")
    await page.reload()
    await expect(page.locator("#me")).to_have_text("lea, lead")
    await log_in(page, base, "ana")
    await expect(page.locator("#me")).to_have_text("ana, reviewer")
    assert "token" not in page.url


async def test_a_link_with_a_token_outlives_what_the_page_writes_into_its_address(browser: Browser, base: str) -> None:
    page = await browser.new_page()
    await log_in(page, base, "lea")
    await page.evaluate(
        """async (token) => {
          const { writeAddress } = await import("/static/address.js");
          location.hash = `#token=${token}`;
          writeAddress({ show: "drafts" }, "queue", false);
        }""",
        TOKENS["ana"].token.get_secret_value(),
    )
    await expect(page.locator("#me")).to_have_text("ana, reviewer")


async def test_an_empty_queue_is_a_friendly_sight(browser: Browser, house: House, tmp_path: Path) -> None:
    server = DeskServer(house.app())
    await server.start_server()
    page = await browser.new_page(viewport={"width": 1200, "height": 700})
    await page.goto(page_address(server.host, server.port or 0, "ana-secret-token"))
    await expect(page.get_by_role("heading", name="No post has come in yet.")).to_be_visible()
    await page.screenshot(path=tmp_path / "empty.png")
    await server.close()
