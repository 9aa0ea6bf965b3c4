from __future__ import annotations

import asyncio
import logging

import pytest

from bot.desk import Desk
from bot.permissions import Moderator
from bot.slack.submissions import Submissions
from core.domain import Case, CaseState, Decision
from tests.bot.samples import DRAFT, add_escalated, add_pending, post
from tests.bot.slack.block_kit import elements
from tests.bot.slack.conftest import ANA, LEA, Floor, buttons, seen, until

OWN = "Schools are for every child. What would you say to a newcomer's parents?"


async def opened(floor: Floor, action: str, user: str = ANA) -> str:
    await floor.press(action, user)
    return str((await floor.modal(action)).id)


async def test_edit_opens_with_the_draft_and_sends_what_was_typed(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    view = await opened(working, "edit")
    assert elements(working.slack.at.views[view].content)[0]["initial_value"] == DRAFT
    answer = await working.slack.people.submit(ANA, view, {"text": OWN})
    assert (answer.payload, answer.sends) == (None, 1)
    case = await working.house.desk.case(key)
    assert (case.state, case.final_text, case.decided_by) == (CaseState.APPROVED, OWN, "ana")


async def test_a_text_that_fails_comes_back_with_what_it_fails_and_nothing_lost(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    view = await opened(working, "edit")
    await working.slack.people.submit(ANA, view, {"text": "A forbidden word. And more."})
    content = working.slack.at.views[view].content
    assert "fails: insults nobody (a word; 1 of 0)" in seen(content)
    assert [item["action_id"] for item in elements(content)] == ["text"], "only leads may override"
    assert elements(content)[0]["initial_value"] == "A forbidden word. And more."
    assert (await working.house.desk.case(key)).state is CaseState.PENDING
    await working.slack.people.submit(ANA, view, {"text": OWN})
    assert (await working.house.desk.case(key)).final_text == OWN


async def test_a_lead_may_say_a_second_time_that_it_is_to_be_sent(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    view = await opened(working, "edit", LEA)
    await working.slack.people.submit(LEA, view, {"text": "A forbidden word. And more."})
    assert (await working.house.desk.case(key)).state is CaseState.PENDING
    await working.slack.people.submit(LEA, view, {"text": "A forbidden word. And more.", "override": ["yes"]})
    case = await working.house.desk.case(key)
    assert case.state is CaseState.APPROVED and "checks overridden" in str(case.decided_why)


async def test_reject_asks_for_a_reason_and_words(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    view = await opened(working, "reject")
    await working.slack.people.submit(ANA, view, {"chosen": "other"})
    assert "A rejection needs a reason" in seen(working.slack.at.views[view].content)
    await working.slack.people.submit(ANA, view, {"chosen": "other", "text": "we know this person"})
    case = await working.house.desk.case(key)
    assert (case.state, case.decided_why) == (CaseState.REJECTED, "other: we know this person")
    await working.card("ana rejected it (we know this person)")


async def test_an_escalated_case_is_handed_over_with_to_whom_and_why(working: Floor) -> None:
    key = await add_escalated(working.house.ledger, post(1))
    await working.slack.people.command(ANA, "C0DESK", f"case {key}")
    shown = await working.ephemeral("Handled")
    assert buttons(shown) == ["show", "reopen", "hand_over", "handle"]
    working.slack.at.channels["C0DESK"].messages["1.000001"] = shown | {"ts": "1.000001"}
    await working.slack.people.press(ANA, "C0DESK", "1.000001", "card:hand_over", private=True)
    view = (await working.modal("hand_over")).id
    await working.house.desk.note(key, "They know the author.", Moderator("ben", "reviewer"))
    await working.slack.people.submit(ANA, view, {"text": "to the police: a real address"})
    assert "You saw version" in seen(working.slack.at.views[view].content)
    await working.slack.people.submit(ANA, view, {})
    case = await working.house.desk.case(key)
    assert (case.decided_by, case.decided_why) == ("ana", "to the police: a real address")


async def test_a_stale_edit_keeps_the_text_and_is_sent_on_the_new_version(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    view = await opened(working, "edit")
    await working.press("claim")
    await working.card("ana holds it")
    await working.slack.people.submit(ANA, view, {"text": OWN})
    content = working.slack.at.views[view].content
    assert "You saw version" in seen(content)
    assert elements(content)[0]["initial_value"] == OWN
    await working.slack.people.submit(ANA, view, {})
    assert (await working.house.desk.case(key)).final_text == OWN


async def test_a_text_survives_failed_checks_and_then_a_faster_colleague(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    view = await opened(working, "edit")
    await working.slack.people.submit(ANA, view, {"text": "A forbidden word. And more."})
    await working.press("claim")
    await working.card("ana holds it")
    await working.slack.people.submit(ANA, view, {"text": OWN})
    content = working.slack.at.views[view].content
    assert "You saw version" in seen(content) and "insult" not in seen(content)
    assert elements(content)[0]["initial_value"] == OWN
    await working.slack.people.submit(ANA, view, {})
    assert (await working.house.desk.case(key)).final_text == OWN


@pytest.fixture
def going(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Make decisions slow: each waits until this event is set."""
    going = asyncio.Event()
    decide = Desk.decide

    async def slowly(desk: Desk, key: str, decision: Decision, who: Moderator) -> Case:
        await going.wait()
        return await decide(desk, key, decision, who)

    monkeypatch.setattr(Submissions.__init__, "__defaults__", (0.05,))
    monkeypatch.setattr(Desk, "decide", slowly)
    return going


async def test_a_slow_decision_is_acknowledged_in_time_and_told_at_the_end(floor: Floor, going: asyncio.Event) -> None:
    async with floor.working():
        key = await add_pending(floor.house.ledger, post(1))
        view = await opened(floor, "edit")
        await floor.slack.people.submit(ANA, view, {"text": OWN})
        assert "takes longer than usual" in seen(floor.slack.at.views[view].content)
        going.set()
        await until(lambda: "Done." in seen(floor.slack.at.views[view].content))
        assert (await floor.house.desk.case(key)).final_text == OWN
    assert floor.slack.socket.complaints == []


async def test_who_closes_the_modal_of_a_slow_decision_is_told_its_refusal_directly_with_their_text(
    floor: Floor, going: asyncio.Event, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    text = "A forbidden *word* on https://forum.example. And more."
    async with floor.working():
        await add_pending(floor.house.ledger, post(1))
        view = await opened(floor, "edit")
        await floor.slack.people.submit(ANA, view, {"text": text})
        floor.slack.at.views[view].open = False
        going.set()
        await until(lambda: f"D{ANA}" in floor.slack.at.channels and bool(floor.slack.at.messages(f"D{ANA}")))
    [told] = floor.slack.at.messages(f"D{ANA}")
    assert "fails: insults nobody (a word; 1 of 0)" in seen(told)
    assert "You had closed the form of case 1. You wrote:" in seen(told)
    assert text in seen(told).splitlines()
    assert "forbidden" not in caplog.text
    assert floor.slack.socket.complaints == []
