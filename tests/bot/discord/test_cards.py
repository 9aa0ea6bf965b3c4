from __future__ import annotations

from typing import Any

from bot.permissions import Moderator
from core.domain import Action, CaseState, Decision, StrategyName, TargetGroup
from core.settings import ChatWorkspace
from tests.bot.discord.look import field, labels
from tests.bot.discord.people import Person
from tests.bot.discord.world import EPHEMERAL
from tests.bot.samples import DRAFT, add_draft, add_duelled, add_escalated, add_pending, post

BEN = Moderator("ben", "reviewer")
WAYS = (StrategyName.COMPOSE, StrategyName.PLAIN)


async def test_a_case_gets_a_card_with_the_post_hidden(house: Any, platform: Any, start: Any) -> None:
    await start()
    await add_pending(house.ledger, post(1))
    card = await platform.card()
    description = card["embeds"][0]["description"]
    assert description.startswith("||")
    assert description.endswith("||")
    assert "migrants 93 %" in field(card, "Against")
    assert field(card, "Draft") == DRAFT
    assert "[Convention on the Rights of the Child](https://docs.un.org/en/A/RES/44/25)" in field(card, "Evidence")
    assert "repeat the post (repeats: school, children; 0.47 of 0.5)" in field(card, "Close")
    assert labels(card) == ["Approve", "Edit", "Reject", "Redraft", "Not hateful", "Evidence", "Claim"]


async def test_a_draft_that_is_cut_because_of_its_markup_can_be_edited_but_not_approved(
    house: Any, platform: Any, start: Any
) -> None:
    await start()
    await add_pending(house.ledger, post(1), "It is so_and *so* " * 53)
    card = await platform.card()
    assert field(card, "Draft").endswith("…")
    assert labels(card) == ["Edit", "Reject", "Redraft", "Not hateful", "Evidence", "Claim"]


async def test_the_bot_asks_for_no_more_than_the_list_of_servers(platform: Any, start: Any) -> None:
    await start()
    assert platform.gateway.intents == 1


async def test_a_case_goes_to_the_channel_of_its_group(house: Any, platform: Any, start: Any) -> None:
    await start()
    await add_pending(house.ledger, post(1), group=TargetGroup.WOMEN)
    assert (await platform.card(platform.women))["embeds"]
    assert platform.world.in_channel(platform.general) == []


async def test_approving_shows_who_and_offers_undo_until_the_release(house: Any, platform: Any, start: Any) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    await platform.person("ana").press(card, "Approve")
    await platform.world.until(lambda: labels(card) == ["Undo", "Evidence"])
    assert "ana" in field(card, "Standing")
    assert "Undo until" in field(card, "Standing")
    assert field(card, "Reply") == DRAFT
    case = await house.ledger.cases.get(key)
    assert case.state is CaseState.APPROVED
    assert case.decided_by.startswith("ana (discord ")


async def test_undo_brings_the_case_back(house: Any, platform: Any, start: Any) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    ana = platform.person("ana")
    await ana.press(card, "Approve")
    await platform.world.until(lambda: "Undo" in labels(card))
    await ana.press(card, "Undo")
    await platform.world.until(lambda: "Approve" in labels(card))
    assert (await house.ledger.cases.get(key)).state is CaseState.PENDING


async def test_an_edited_text_goes_out_as_written(house: Any, platform: Any, start: Any) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    ana = platform.person("ana")
    form = await ana.press(card, "Edit")
    assert form.modal["components"][0]["component"]["value"] == DRAFT
    await ana.fill_in(form, text="Newcomers build this town. *Everyone* gains.")
    await platform.world.until(lambda: "Undo" in labels(card))
    assert (await house.ledger.cases.get(key)).final_text == "Newcomers build this town. *Everyone* gains."


async def test_a_text_that_fails_the_guard_comes_back_and_only_a_lead_may_insist(
    house: Any, platform: Any, start: Any
) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    ana, lea = platform.person("ana"), platform.person("lea")
    sent = await ana.fill_in(await ana.press(card, "Edit"), text="This is forbidden. Yes it is.")
    refusal = await ana.told(sent)
    assert "insult" in refusal["content"]
    assert labels(refusal) == ["Edit again"]
    again = await ana.press(refusal, "Edit again")
    assert again.modal["components"][0]["component"]["value"] == "This is forbidden. Yes it is."
    assert (await house.ledger.cases.get(key)).state is CaseState.PENDING

    sent = await lea.fill_in(await lea.press(card, "Edit"), text="This is forbidden. Yes it is.")
    refusal = await lea.told(sent)
    assert labels(refusal) == ["Edit again", "Post anyway"]
    await lea.press(refusal, "Post anyway")
    await platform.world.until(lambda: "Undo" in labels(card))
    assert "checks overridden" in (await house.ledger.cases.get(key)).decided_why


async def test_a_rejection_asks_for_a_reason(house: Any, platform: Any, start: Any) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    ana = platform.person("ana")
    sent = await ana.fill_in(await ana.press(card, "Reject"), reason="other")
    assert "needs a reason" in (await ana.told(sent))["content"]
    await ana.fill_in(await ana.press(card, "Reject"), reason="tone", words="too sharp")
    await platform.world.until(lambda: "Undo" in labels(card))
    assert (await house.ledger.cases.get(key)).decided_why == "tone: too sharp"


async def test_a_redraft_carries_intent_and_hint_and_the_card_shows_the_new_draft(
    house: Any, platform: Any, start: Any
) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    ana = platform.person("ana")
    await ana.fill_in(await ana.press(card, "Redraft"), intent="questioning", hint="ask about schools")
    await platform.world.until(lambda: labels(card) == ["Evidence"])
    case = await house.ledger.cases.get(key)
    assert (case.request.intent, case.request.hint, case.request.number) == ("questioning", "ask about schools", 2)
    await add_draft(house.ledger, key, 2, "What would a school lose by it? Who gains?")
    await platform.world.until(lambda: "What would a school" in field(card, "Draft"))
    assert "Approve" in labels(card)


async def test_a_redraft_form_offers_another_way_where_there_is_one(house: Any, platform: Any, start: Any) -> None:
    house.desk.strategies = WAYS
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    ana = platform.person("ana")
    form = await ana.press(card, "Redraft")
    menu = form.modal["components"][1]["component"]
    assert [option["value"] for option in menu["options"]] == list(WAYS)
    for action in (Action.CLAIM, Action.RELEASE):
        await house.desk.decide(key, Decision(action=action, version=(await house.desk.case(key)).version), BEN)
    refusal = await ana.told(await ana.fill_in(form, intent="positive", strategy="plain", hint="be brief"))
    assert "You saw version" in refusal["content"]
    await ana.fill_in(await ana.press(refusal, "Redraft again"))
    await platform.world.until(lambda: labels(card) == ["Evidence"])
    case = await house.desk.case(key)
    assert (case.state, case.request.strategy, case.request.hint) == (CaseState.TRIAGED, "plain", "be brief")


async def test_a_redraft_form_may_leave_the_way_as_it_was(house: Any, platform: Any, start: Any) -> None:
    house.desk.strategies = WAYS
    await start()
    key = await add_pending(house.ledger, post(1))
    await (ana := platform.person("ana")).fill_in(await ana.press(await platform.card(), "Redraft"), intent="positive")
    await platform.world.until(lambda: labels(platform.world.in_channel(platform.general)[0]) == ["Evidence"])
    assert (await house.desk.case(key)).request.strategy is None


async def test_the_evidence_is_shown_to_who_asks_alone(house: Any, platform: Any, start: Any) -> None:
    await start()
    await add_pending(house.ledger, post(1))
    card = await platform.card()
    ana = platform.person("ana")
    evidence = await ana.told(await ana.press(card, "Evidence"))
    assert len(evidence["embeds"]) == 2
    assert evidence["embeds"][0]["url"] == "https://docs.un.org/en/A/RES/44/25"
    assert "every child has a right" in evidence["embeds"][0]["description"]


async def test_details_are_shown_to_who_asks_alone_each_in_a_message(house: Any, platform: Any, start: Any) -> None:
    await start()
    await add_duelled(house.ledger, post(1))
    card = await platform.card()
    ana = platform.person("ana")
    exchange = await ana.press(card, "Details")
    reading = await ana.told(exchange)
    assert reading["embeds"][0]["title"] == "The model's reading of the post"
    assert "**implication** · It paints children as a danger." in reading["embeds"][0]["description"]
    await platform.world.until(lambda: len(exchange.followups) == 2)
    replies, duels = (platform.world.messages[id] for id in exchange.followups)
    assert f"**1, the draft** · {DRAFT}" in replies["embeds"][0]["description"]
    assert "**1 – 3** · 8 to 2, in the other order 2 to 8: a tie" in duels["embeds"][0]["description"]
    assert all(message["flags"] & EPHEMERAL for message in (reading, replies, duels))


async def test_a_claim_is_shown_and_kept_from_others(house: Any, platform: Any, start: Any) -> None:
    await start()
    await add_pending(house.ledger, post(1))
    card = await platform.card()
    ana, ben = platform.person("ana"), platform.person("ben")
    await ana.press(card, "Claim")
    await platform.world.until(lambda: "Release" in labels(card))
    assert "ana" in field(card, "Standing")
    refusal = await ben.told(await ben.press(card, "Approve"))
    assert "claimed by ana" in refusal["content"]
    assert refusal["components"] == []
    await ana.press(card, "Release")
    await platform.world.until(lambda: "Claim" in labels(card))


async def test_the_second_of_two_who_decide_at_once_is_told_who_was_faster(
    house: Any, platform: Any, start: Any
) -> None:
    await start()
    await add_pending(house.ledger, post(1))
    card = await platform.card()
    ana, ben = platform.person("ana"), platform.person("ben")
    first, second = await ana.press_only(card, "Approve"), await ben.press_only(card, "Approve")
    await platform.world.until(lambda: first.followups or second.followups)
    loser, exchange = (ana, first) if first.followups else (ben, second)
    winner = "ben" if loser is ana else "ana"
    assert winner in (await loser.told(exchange))["content"]
    await platform.world.until(lambda: "Undo" in labels(card))


async def test_a_decision_made_elsewhere_takes_the_buttons_away(house: Any, platform: Any, start: Any) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    card = await platform.card()
    case = await house.desk.case(key)
    await house.desk.decide(key, Decision(action=Action.APPROVE, version=case.version), Moderator("web", "reviewer"))
    await platform.world.until(lambda: "Approve" not in labels(card), 2)
    assert "web approved it" in field(card, "Standing")


async def test_two_servers_show_the_case_each_with_its_own_roles(house: Any, platform: Any, start: Any) -> None:
    world = platform.world
    second = world.add_guild("Second Watch", {"chief": ""}, [("zoe", ["chief"]), ("yan", [])])
    hall = world.add_channel(second, "hall")
    there = ChatWorkspace(channel=hall.id, leads=(second.roles["chief"],), reviewers=(second.roles["chief"],))
    await start(others={second.id: there})
    await add_pending(house.ledger, post(1))
    card, other = await platform.card(), await platform.card(hall)
    yan, zoe = (Person(world, platform.gateway, second, second.members[name]) for name in ("yan", "zoe"))
    assert "reviewer's role" in (await yan.told(await yan.press(other, "Approve")))["content"]
    await zoe.press(other, "Approve")
    await world.until(lambda: "Undo" in labels(card) and "Undo" in labels(other), 2)
    assert "zoe" in field(card, "Standing")


async def test_a_press_on_a_server_that_is_not_set_up_is_refused(house: Any, platform: Any, start: Any) -> None:
    await start()
    await add_pending(house.ledger, post(1))
    card = await platform.card()
    foreign = platform.world.add_guild("Elsewhere", {}, [("eve", [])])
    eve = Person(platform.world, platform.gateway, foreign, foreign.members["eve"])
    assert "not a server that Rejoinder works on" in (await eve.told(await eve.press(card, "Approve")))["content"]


async def test_an_escalated_case_is_handed_over_with_a_form_that_asks_to_whom_and_why(
    house: Any, platform: Any, start: Any
) -> None:
    await start()
    key = await add_escalated(house.ledger, post(1))
    ana = platform.person("ana")
    card = await ana.told(await ana.command(platform.general.id, "rejoinder case", case=key))
    assert labels(card) == ["Reopen and draft", "Hand over", "Handled"]
    form = await ana.press(card, "Hand over")
    assert form.modal["components"][0]["component"]["required"], "nobody hands over without saying to whom"
    await ana.fill_in(form, reason="to the police: a real address")
    await platform.world.until(lambda: "handed it over (to the police: a real address)" in field(card, "Standing"))
    assert "ana" in field(card, "Standing")
    assert (await house.desk.case(key)).state is CaseState.ESCALATED
