"""What somebody wrote is never lost: a refused form opens again with it, by a button, as Discord asks for."""

from __future__ import annotations

from typing import Any

from bot.discord.forms import MAX_INPUT
from bot.permissions import Moderator
from core.domain import Action, CaseState, Decision
from tests.bot.discord.look import labels
from tests.bot.samples import add_pending, post

OWN = "Schools are for every child. What would you say to a newcomer's parents?"
FAILING = "This is forbidden. Yes it is."


def typed(form: Any) -> str:
    return str(form.modal["components"][0]["component"].get("value"))


async def move_on(house: Any, key: str) -> None:
    """Let somebody claim the case in the browser and let it go: it is pending as before, two versions later."""
    for action in (Action.CLAIM, Action.RELEASE):
        case = await house.desk.case(key)
        await house.desk.decide(key, Decision(action=action, version=case.version), Moderator("web", "reviewer"))


async def refusal(platform: Any, exchange: Any) -> Any:
    """Wait for the message that says why not; the one whose button was pressed may be private as well."""
    await platform.world.until(lambda: exchange.followups)
    return platform.world.messages[exchange.followups[0]]


async def test_a_stale_edit_keeps_the_text_and_is_sent_on_the_new_version(
    house: Any, platform: Any, start: Any
) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    ana = platform.person("ana")
    form = await ana.press(await platform.card(), "Edit")
    await move_on(house, key)
    stale = await ana.told(await ana.fill_in(form, text=OWN))
    assert "You saw version" in stale["content"]
    assert labels(stale) == ["Edit again"]
    again = await ana.press(stale, "Edit again")
    assert typed(again) == OWN
    await ana.fill_in(again)
    await platform.world.until(lambda: "Undo" in labels(platform.world.in_channel(platform.general)[0]))
    assert (await house.ledger.cases.get(key)).final_text == OWN


async def test_a_text_survives_failed_checks_and_then_a_faster_colleague(house: Any, platform: Any, start: Any) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    ana = platform.person("ana")
    failed = await ana.told(await ana.fill_in(await ana.press(await platform.card(), "Edit"), text=FAILING))
    again = await ana.press(failed, "Edit again")
    assert typed(again) == FAILING
    await move_on(house, key)
    stale = await refusal(platform, await ana.fill_in(again, text=OWN))
    last = await ana.press(stale, "Edit again")
    assert typed(last) == OWN
    await ana.fill_in(last)
    await platform.world.until(lambda: "Undo" in labels(platform.world.in_channel(platform.general)[0]))
    assert (await house.ledger.cases.get(key)).final_text == OWN


async def test_an_override_that_comes_too_late_keeps_the_text_too(house: Any, platform: Any, start: Any) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    lea = platform.person("lea")
    failed = await lea.told(await lea.fill_in(await lea.press(await platform.card(), "Edit"), text=FAILING))
    await move_on(house, key)
    stale = await refusal(platform, await lea.press(failed, "Post anyway"))
    assert labels(stale) == ["Edit again"]
    assert typed(await lea.press(stale, "Edit again")) == FAILING
    assert (await house.ledger.cases.get(key)).state is CaseState.PENDING


async def test_a_stale_rejection_keeps_reason_and_words(house: Any, platform: Any, start: Any) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    ana = platform.person("ana")
    form = await ana.press(await platform.card(), "Reject")
    await move_on(house, key)
    stale = await ana.told(await ana.fill_in(form, reason="tone", words="too sharp"))
    await ana.fill_in(await ana.press(stale, "Reject again"))
    await platform.world.until(lambda: "Undo" in labels(platform.world.in_channel(platform.general)[0]))
    assert (await house.ledger.cases.get(key)).decided_why == "tone: too sharp"


async def test_a_text_outlives_the_role_of_who_wrote_it(house: Any, platform: Any, start: Any) -> None:
    await start(reviewers=(platform.guild.roles["reviewer"],))
    await add_pending(house.ledger, post(1))
    ana = platform.person("ana")
    form = await ana.press(await platform.card(), "Edit")
    roles, ana.member.roles = ana.member.roles, []
    refused = await ana.told(await ana.fill_in(form, text=OWN))
    assert "reviewer's role" in refused["content"]
    ana.member.roles = roles
    assert typed(await ana.press(refused, "Edit again")) == OWN


async def test_the_longest_text_that_discord_takes_comes_back_whole(house: Any, platform: Any, start: Any) -> None:
    await start()
    await add_pending(house.ledger, post(1))
    longest = "forbidden ".ljust(MAX_INPUT, "a")
    ana = platform.person("ana")
    failed = await ana.told(await ana.fill_in(await ana.press(await platform.card(), "Edit"), text=longest))
    assert typed(await ana.press(failed, "Edit again")) == longest


async def test_a_draft_longer_than_discord_takes_says_that_its_end_is_left_out(
    house: Any, platform: Any, start: Any
) -> None:
    await start()
    await add_pending(house.ledger, post(1), "word " * 1_000)
    form = await platform.person("ana").press(await platform.card(), "Edit")
    assert len(typed(form)) == MAX_INPUT
    assert "the end of the draft is left out" in form.modal["components"][0]["description"]
