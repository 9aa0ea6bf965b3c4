from __future__ import annotations

from bot.permissions import Moderator
from core.domain import Action, CaseState, Decision, Intent, StrategyName
from tests.bot.samples import DRAFT, add_draft, add_duelled, add_pending, post
from tests.bot.slack.conftest import ANA, BEN, LEA, OUT, Floor, buttons, seen, until

POST = "Newcomers ruin our schools"


async def test_a_pending_case_gets_a_card_that_hides_the_post(working: Floor) -> None:
    await add_pending(working.house.ledger, post(1))
    card = await working.card()
    assert DRAFT in seen(card) and "Convention on the Rights of the Child" in seen(card)
    assert POST not in str(card)
    assert buttons(card) == ["show", "approve", "edit", "reject", "redraft", "dismiss", "evidence", "claim"]


async def test_the_post_is_shown_only_to_the_one_who_asks(working: Floor) -> None:
    await add_pending(working.house.ledger, post(1))
    answer = await working.press("show", BEN)
    view = await working.modal()
    assert (view.user, answer.sends) == (BEN, 1)
    assert POST in seen(view.content)
    assert POST not in str(working.slack.at.messages("C0DESK")) + str(working.ephemerals())


async def test_approving_decides_the_case_and_the_card_shows_who(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    await working.press("approve")
    card = await working.card("ana approved it")
    case = await working.house.desk.case(key)
    assert (case.state, case.final_text, case.decided_by) == (CaseState.APPROVED, DRAFT, "ana")
    assert buttons(card) == ["show", "undo", "evidence"]


async def test_undo_brings_the_case_back(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    await working.press("approve")
    await working.card("approved it")
    await working.press("undo")
    await working.card("It waits for a decision")
    assert (await working.house.desk.case(key)).state is CaseState.PENDING


async def test_evidence_is_shown_in_full_only_to_the_one_who_asks(working: Floor) -> None:
    await add_pending(working.house.ledger, post(1))
    await working.press("evidence", BEN)
    view = await working.modal()
    assert view.user == BEN and "States recognise that every child" in seen(view.content)


async def test_details_are_shown_only_to_the_one_who_asks(working: Floor) -> None:
    await add_duelled(working.house.ledger, post(1))
    card = await working.card()
    assert "paints children" not in str(card)
    await working.press("details", BEN)
    view = await working.modal()
    assert view.user == BEN and "It paints children as a danger." in seen(view.content)
    assert "Nobody has to leave." in seen(view.content)
    assert "8 to 2, in the other order 2 to 8: a tie" in seen(view.content)


async def test_claim_and_release_show_on_the_card(working: Floor) -> None:
    await add_pending(working.house.ledger, post(1))
    await working.press("claim", BEN)
    assert "release" in buttons(await working.card("ben holds it"))
    await working.press("release", BEN)
    assert "claim" in buttons(await working.card("It waits for a decision"))


async def test_who_is_no_reviewer_is_told_so_and_nothing_happens(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    await working.press("approve", OUT)
    ephemeral = await working.ephemeral("You may look but not decide here")
    assert ephemeral["user"] == OUT
    assert (await working.house.desk.case(key)).state is CaseState.PENDING


async def test_anothers_claim_keeps_a_reviewer_off_and_a_lead_may_go_on(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    await working.press("claim", BEN)
    await working.card("ben holds it")
    await working.press("approve", ANA)
    refusal = await working.ephemeral("claimed by ben")
    assert refusal["user"] == ANA and len(refusal["blocks"]) == 1
    await working.press("approve", LEA)
    await until(lambda: any(item["user"] == LEA for item in working.ephemerals()))
    offer = next(item for item in working.ephemerals() if item["user"] == LEA)
    channel = working.slack.at.channels["C0DESK"]
    channel.messages["9999999999.000001"] = offer | {"ts": "9999999999.000001"}
    await working.slack.people.press(LEA, "C0DESK", "9999999999.000001", "card:anyway")
    await working.card("lea approved it")
    assert (await working.house.desk.case(key)).decided_by == "lea"


async def test_of_two_who_press_at_once_one_wins_and_the_other_is_told_who(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    before = dict(await working.card())
    await working.press("approve", ANA)
    await working.card("approved it")
    working.slack.at.channels["C0DESK"].messages["1.000001"] = {**before, "ts": "1.000001", "metadata": None}
    await working.slack.people.press(BEN, "C0DESK", "1.000001", "card:reject")
    modal = await working.modal("reject")
    await working.slack.people.submit(BEN, modal.id, {"chosen": "tone"})
    assert "ana approved it" in seen(modal.content)
    assert (await working.house.desk.case(key)).decided_by == "ana"


async def test_a_redraft_modal_offers_another_way_and_keeps_it_when_refused(working: Floor) -> None:
    house = working.house
    house.desk.strategies = (StrategyName.COMPOSE, StrategyName.PLAIN)
    key = await add_pending(house.ledger, post(1))
    await working.press("redraft")
    modal = await working.modal("redraft")
    version = (await house.desk.case(key)).version
    await house.desk.decide(key, Decision(action=Action.CLAIM, version=version), Moderator("ana", "reviewer"))
    await working.slack.people.submit(ANA, modal.id, {"chosen": "positive", "strategy": "plain"})
    assert "You saw version" in seen(modal.content)
    await working.slack.people.submit(ANA, modal.id, {})
    await working.card("Search for evidence under way")
    case = await house.desk.case(key)
    assert (case.state, case.request.strategy, case.request.intent) == (CaseState.TRIAGED, "plain", Intent.POSITIVE)


async def test_a_new_draft_comes_to_the_same_card(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    await working.press("redraft")
    modal = await working.modal("redraft")
    await working.slack.people.submit(ANA, modal.id, {"chosen": "questioning", "text": "ask about schools"})
    await working.card("New draft under way")
    case = await working.house.desk.case(key)
    assert (case.request.intent, case.request.hint) == (Intent.QUESTIONING, "ask about schools")
    await add_draft(working.house.ledger, key, 2, "Would you ask a child to stay at home? Schools are for all.")
    assert "approve" in buttons(await working.card("Would you ask a child"))
