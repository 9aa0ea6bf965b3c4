"""Every state of the desk's page, and the walks through the page that reach them, in any look."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import timedelta

from playwright.async_api import Browser, expect

from core.domain import Frame, Plan, Route, TargetGroup, now
from core.lifecycle import StageName
from tests.bot.live.test_only_what_is_open import Gate
from tests.bot.live.visit import Look, Visit, address, open_visit
from tests.bot.samples import (
    DRAFT,
    PLATFORM,
    add_answered,
    add_doubtful,
    add_pending,
    fill,
    post,
    triage_of,
)

STATES = (
    "sign-in", "sign-in-refused", "empty", "tour",
    "case", "uncovered", "around", "list", "details", "no-draft", "held", "loading",
    "editor", "begun-text", "which-text", "reject", "redraft", "assign", "evidence-search", "undo",
    "decided-meanwhile", "session-expired", "offline",
    "selection", "reject-many", "same-text", "search", "nothing-found", "save-filter", "doubtful", "nothing-left",
    "approved", "released", "retract", "appeal", "rejected", "dismissed", "escalated", "hand-over", "handle",
    "failed", "unfinished",
    "today", "figures", "escalation-told", "help", "sessions",
    "covered", "settings", "grey", "break-due", "limit", "break",
)  # fmt: skip
"""All states of the page, in the order in which walks reach them; `docs/moderators.md` shows each under its name."""

OWN = "A school for all keeps a promise. It is a good one."
FORBIDDEN = "This is forbidden. It fails."
SAME = "Keep them out of our harbour!"
REPLIES = (
    "A harbour lives from who comes in. Most sailors here were newcomers once.",
    "Half the boats were built by newcomers. Ask one how it is done.",
    "Half the boats were built by newcomers. Ask one how it is done.",
    "Nobody owns the sea. Who lands here has the same rights as you.",
)
OPEN_FOLDS = "() => { for (const fold of document.querySelectorAll('#case details')) fold.open = true; }"
LATER = "() => { const later = Date.now() + 3000000; Date.now = () => later; }"


async def fill_desk(visit: Visit) -> None:
    """Bring cases to the desk that seem to have waited for hours or minutes: post-7, then post-1 to post-6."""
    ledger = visit.house.ledger
    visit.clock.back = timedelta(hours=3)
    first = post(7, "They come here and take our jobs. \u202eskrow\u202c it is!")
    context = ("Who hires anybody these days?", "The harbour does.")
    await add_answered(ledger, first.model_copy(update={"context": context, "author_id": "author-1"}), hate=0.34)
    visit.clock.back = timedelta(minutes=40)
    await fill(ledger)
    visit.clock.back = timedelta(0)


async def first_minute(visit: Visit) -> AsyncIterator[str]:
    """Log in to a desk that no post has reached."""
    page = visit.page
    await page.goto(visit.base)
    await expect(page.locator("#token")).to_be_focused()
    yield "sign-in"
    await page.keyboard.type("wrong-wrong")
    await page.keyboard.press("Enter")
    await expect(page.locator("#login-error")).not_to_be_empty()
    yield "sign-in-refused"
    await visit.log_in()
    await expect(page.locator('[data-slot="command"]')).to_be_visible()
    yield "empty"
    await visit.push('.first [data-do="tour"]')
    await page.keyboard.press("ArrowRight")
    await expect(page.locator(".post blockquote").first).to_be_visible()
    yield "tour"


async def one_case(visit: Visit) -> AsyncIterator[str]:
    """Look at cases without deciding anything."""
    page = visit.page
    await fill_desk(visit)
    await visit.log_in("post-7")
    await expect(page.locator('[data-slot="author"] button')).to_be_visible()
    yield "case"
    await visit.press("b")
    await expect(page.locator('[data-slot="thread"]')).to_be_visible()
    yield "uncovered"
    await visit.press("w")
    await page.keyboard.type("Its author was asked to stay friendly.")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator('[data-slot="notes"] li')).to_have_count(1)
    await expect(page.locator('[data-slot="author"] button')).to_be_visible()
    await page.locator('[data-slot="notes"]').evaluate("(notes) => notes.scrollIntoView({ block: 'center' })")
    yield "around"

    await visit.to_list()
    await visit.push(f'.row[data-key="{PLATFORM}/post-3"]')
    await visit.sees("post-3")
    await visit.to_list()
    yield "list"
    plan = Plan(
        strategy="intent-frames", frames=(Frame(name="implication", reading="It paints children as a danger."),)
    )
    await add_pending(visit.house.ledger, post(8), plan=plan)
    await visit.log_in("post-8")
    await page.evaluate(OPEN_FOLDS)
    await page.locator('[data-slot="checks-sum"]').evaluate("(line) => line.scrollIntoView({ block: 'center' })")
    yield "details"
    await visit.log_in("post-5")
    await expect(page.locator("#reply-text")).to_be_visible()
    yield "no-draft"
    other = await (await page.context.browser.new_context()).new_page()  # type: ignore[union-attr]
    await other.goto(address(visit.base, "ben", "post-4"))
    await expect(other.locator("#connection")).to_have_attribute("data-state", "live")
    await page.keyboard.press("Escape")
    await visit.log_in("post-4")
    await expect(page.locator('[data-slot="viewing"]')).to_be_visible()
    case = await visit.house.desk.case(f"{PLATFORM}/post-4")
    await visit.house.ledger.decisions.claim(case.key, case.version, "ben", now() + timedelta(minutes=10))
    await expect(page.locator('[data-slot="notice"]')).to_be_visible()
    await expect(page.locator(".row[aria-current] .row-claim")).not_to_be_empty()
    yield "held"
    await other.context.close()
    gate = Gate()
    await page.route(f"**/v1/cases/{PLATFORM}/post-1", gate)
    await visit.to_list()
    await visit.push(f'.row[data-key="{PLATFORM}/post-1"]')
    await page.locator(".loading").wait_for()
    yield "loading"
    gate.opened.set()
    await visit.sees("post-1")


async def deciding(visit: Visit) -> AsyncIterator[str]:
    """Write, choose and approve; meet a colleague's decision, a lost connection and the end of the session."""
    page = visit.page
    await fill_desk(visit)
    await visit.log_in("post-7")
    await visit.press("b", "e")
    await page.locator("#reply-text").fill(FORBIDDEN)
    await expect(page.locator('[data-slot="verdict"].error')).to_be_visible()
    yield "editor"
    await page.locator("#reply-text").fill(OWN)
    await page.keyboard.press("Escape")
    await expect(page.locator('[data-slot="offer"]')).to_be_visible()
    yield "begun-text"
    for key, dialog, name in (
        ("a", "#which", "which-text"), ("r", "#reject", "reject"),
        ("d", "#redraft", "redraft"), ("s", "#assign", "assign"),
    ):  # fmt: skip
        await visit.press(key)
        await expect(page.locator(dialog)).to_be_visible()
        yield name
        await visit.leave(dialog)
    await visit.press("f")
    await page.locator("#evidence-words").fill("jobs")
    await page.keyboard.press("Enter")
    await expect(page.locator(".found li")).to_have_count(1)
    yield "evidence-search"
    await visit.leave("#find-evidence")
    await visit.press("a")
    await page.keyboard.press("2")
    await visit.sees("post-1")
    await expect(page.locator(".toast.undo")).to_be_visible()
    yield "undo"

    await visit.press("b", "e")
    await page.locator("#reply-text").fill(OWN)
    case = await visit.house.desk.case(f"{PLATFORM}/post-1")
    await visit.house.ledger.decisions.reject(case.key, case.version, "ben", "tone", now() + timedelta(minutes=5))
    await expect(page.locator('[data-slot="notice"]')).to_be_visible()
    await expect(page.locator("#cases .row")).to_have_count(5)
    yield "decided-meanwhile"
    await visit.context.clear_cookies()
    await page.keyboard.press("Control+Enter")
    await expect(page.locator("#token")).to_be_focused()
    yield "session-expired"
    await page.keyboard.type("lea-secret-token")
    await page.keyboard.press("Enter")
    await expect(page.locator("#desk")).to_be_visible()
    await expect(page.locator('[data-slot="checks-card"]')).to_be_visible()
    await visit.server.close()
    await expect(page.locator("#connection")).to_have_attribute("data-state", "away")
    yield "offline"


async def many(visit: Visit) -> AsyncIterator[str]:
    """Work on several cases at once, search, and reach the end of the queue."""
    page, ledger = visit.page, visit.house.ledger
    await fill_desk(visit)
    for number, reply in enumerate(REPLIES, 10):
        await add_pending(ledger, post(number, SAME), reply)
    await add_doubtful(ledger, post(20, "The weather is lovely today."))
    await visit.log_in("post-10")
    await visit.press("Shift+J")
    await visit.sees("post-11")
    await visit.press("Shift+J")
    await visit.sees("post-12")
    await visit.to_list()
    yield "selection"
    await visit.press("r")
    await expect(page.locator("#reject .listed li")).to_have_count(3)
    yield "reject-many"
    await visit.leave("#reject")
    await visit.press("Escape", "v")
    await expect(page.locator("#same-cases li")).to_have_count(4)
    yield "same-text"
    await visit.leave("#same")
    await page.locator("#search").fill("ramp")
    await expect(page.locator("#cases .row")).to_have_count(1)
    yield "search"
    await page.locator("#search").fill("nothing like it")
    await page.locator("#group-filter").select_option("women")
    await expect(page.locator("#cases .row")).to_have_count(0)
    await expect(page.locator(".empty h2")).to_be_visible()
    yield "nothing-found"
    await page.locator("#search").fill("")
    await expect(page.locator("#cases .row")).to_have_count(1)
    await page.locator("#saved-filters").select_option("+")
    await expect(page.locator("#save-filter")).to_be_visible()
    yield "save-filter"
    await visit.leave("#save-filter")
    await page.locator("#group-filter").select_option("")
    await visit.choose("doubtful", "post-20")
    yield "doubtful"
    await visit.press("n")
    await expect(page.locator(".empty h2")).to_be_visible()
    await expect(page.locator(".toast.undo")).to_be_visible()
    yield "nothing-left"


async def closed_cases(visit: Visit) -> AsyncIterator[str]:
    """Open closed cases, and cases that workers are still busy with."""
    page, ledger = visit.page, visit.house.ledger
    await fill_desk(visit)
    for number, route in ((20, Route.ESCALATE), (21, Route.DISMISS)):
        await ledger.stages.triage(post(number, "Zorblaxians should fear us."), triage_of(route=route))
    await ledger.decisions.approve(f"{PLATFORM}/post-1", 4, "ana", DRAFT, "approved draft 1", now())
    await ledger.decisions.approve(f"{PLATFORM}/post-7", 4, "ana", DRAFT, "approved draft 1", now())
    for row in await ledger.outbox.lease("test", 30, 50):
        await ledger.outbox.note_sent(row, "test")
    await ledger.casework.appeal(f"{PLATFORM}/post-1", "site", "<b>It</b> was a joke.")
    await ledger.decisions.approve(
        f"{PLATFORM}/post-2", 4, "lea", DRAFT, "approved draft 1", now() + timedelta(minutes=10)
    )
    await ledger.decisions.reject(f"{PLATFORM}/post-3", 4, "ana", "tone: too stern", now())
    await ledger.stages.receive([post(22), post(23)])
    await ledger.stages.fail(post(22).key, StageName.TRIAGE, "The worker stopped three times on this post.")
    await visit.log_in("post-4")
    await visit.push('[data-escalations="close"]')
    await visit.choose("approved", "post-2")
    yield "approved"
    await visit.choose("released", "post-7")
    yield "released"
    await visit.press("t")
    await expect(page.locator("#retract")).to_be_visible()
    yield "retract"
    await visit.leave("#retract")
    await visit.choose("appeals", "post-1")
    await page.locator('[data-slot="notes"]').evaluate("(notes) => notes.scrollIntoView({ block: 'center' })")
    yield "appeal"
    await visit.choose("rejected", "post-3")
    yield "rejected"
    await visit.choose("dismissed", "post-21")
    yield "dismissed"
    await visit.choose("escalated", "post-20")
    yield "escalated"
    for key, dialog, name in (("h", "#hand_over", "hand-over"), ("m", "#handle", "handle")):
        await visit.press(key)
        await expect(page.locator(dialog)).to_be_visible()
        yield name
        await visit.leave(dialog)
    await visit.choose("failed", "post-22")
    yield "failed"
    await visit.choose("unfinished", "post-23")
    yield "unfinished"


async def the_day(visit: Visit) -> AsyncIterator[str]:
    """See Today as a lead, be notified of an escalation, open help and sessions."""
    page, ledger = visit.page, visit.house.ledger
    await fill_desk(visit)
    decisions, due = ledger.decisions, now() + timedelta(minutes=5)
    await decisions.approve(f"{PLATFORM}/post-1", 4, "ben", OWN, "edited", due)
    await decisions.reject(f"{PLATFORM}/post-4", 4, "ben", "tone", due)
    await decisions.claim(f"{PLATFORM}/post-3", 4, "lea", due)
    await decisions.claim(f"{PLATFORM}/post-2", 4, "ana", due)
    for number in range(30, 35):
        await add_pending(ledger, post(number, "Women can't sail."), group=TargetGroup.WOMEN)
    await visit.log_in("post-7")
    await visit.press("y")
    await page.wait_for_function("() => document.querySelector('[data-slot=picture]')?.naturalWidth > 300")
    await expect(page.locator(".surge").first).to_be_visible()
    yield "today"
    await page.locator('[data-slot="picture"]').evaluate("(picture) => picture.scrollIntoView({ block: 'end' })")
    yield "figures"
    await page.locator("#case").evaluate("(box) => box.scrollTo(0, 0)")
    triage = triage_of(route=Route.ESCALATE).model_copy(update={"reason": "It threatens people with violence."})
    await ledger.stages.triage(post(20, "Zorblaxians should fear us."), triage)
    await expect(page.locator("#escalations")).to_be_visible()
    yield "escalation-told"
    await visit.push('[data-escalations="close"]')
    await visit.press("?")
    await expect(page.locator("#help")).to_be_visible()
    yield "help"
    await visit.leave("#help")
    elsewhere = await page.context.browser.new_context(user_agent="A browser in the library")  # type: ignore[union-attr]
    left_open = await elsewhere.new_page()
    await left_open.goto(address(visit.base, "ana"))
    await expect(left_open.locator("#connection")).to_have_attribute("data-state", "live")
    await visit.to_list()
    await visit.push("#sessions-open")
    await expect(page.locator("#sessions li")).to_have_count(2)
    yield "sessions"
    await elsewhere.close()


async def care(visit: Visit) -> AsyncIterator[str]:
    """Be asked for confirmation before answering a covered post, then meet the care settings: grey, breaks, a limit."""
    page = visit.page
    await fill_desk(visit)
    await visit.log_in("post-7")
    await visit.press("a")
    await expect(page.locator("#covered")).to_be_visible()
    yield "covered"
    await visit.leave("#covered")
    await visit.to_list()
    await visit.push("#settings-open")
    await page.locator("#care-blur").select_option("3")
    await page.locator("#care-limit").fill("1")
    await page.locator("#care-worked").fill("45")
    await page.locator('[name="group"][value="women"]').check()
    await expect(page.locator(".saved")).to_be_visible()
    await page.locator("#settings").evaluate("(box) => box.scrollTo(0, 0)")
    yield "settings"
    await page.locator("#care-grey").check()
    await visit.leave("#settings")
    await visit.push(f'.row[data-key="{PLATFORM}/post-7"]')
    await visit.sees("post-7")
    await page.mouse.move(5, 5)
    await visit.press("b")
    await expect(page.locator(".post blockquote").first).to_be_visible()
    yield "grey"
    await page.evaluate(LATER)
    await expect(page.locator("#worked")).to_be_visible()
    yield "break-due"
    await visit.push('[data-worked="later"]')
    await visit.press("j")
    await visit.sees("post-1")
    await visit.press("b")
    await expect(page.locator("#limit")).to_be_visible()
    yield "limit"
    await page.keyboard.press("1")
    await expect(page.locator(".clock")).not_to_be_empty()
    yield "break"


Walk = Callable[[Visit], AsyncIterator[str]]
WALKS: tuple[Walk, ...] = (first_minute, one_case, deciding, many, closed_cases, the_day, care)


async def visit_states(browser: Browser, look: Look, language: str = "en") -> AsyncIterator[tuple[str, Visit]]:
    """Take every walk, each on a desk of its own; yields a state's name and the visit while the page shows it."""
    for walk in WALKS:
        async with open_visit(browser, look, language) as visit:
            async for name in walk(visit):
                yield name, visit
            assert visit.watch.faults == []
