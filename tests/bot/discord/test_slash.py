from __future__ import annotations

from typing import Any

from bot.pipeline_cli import PipelineCli
from core.domain import Draft, Evidence, Grounding, Intent, Origin, Route, StrategyName, TargetGroup
from core.settings import CareSettings, ChannelRule, ChatWorkspace
from tests.bot.discord.look import cards, field, labels
from tests.bot.discord.people import Person
from tests.bot.samples import CRC, add_pending, post, triage_of
from tests.factories import make_draft, make_grounding


class Answers(PipelineCli):
    """A stand-in that answers what a child process would."""

    async def draft(self, text: str, intent: Intent | None) -> tuple[Draft | None, Grounding | None, str]:
        if "lovely" in text:
            return None, None, "not hateful"
        text = f"An answer, {intent}. @everyone"
        draft = make_draft("terminal/1", text=text, intent=Intent.POSITIVE, origin=Origin.MODEL)
        return draft, make_grounding(CRC), "hateful"

    async def evidence(self, query: str, group: TargetGroup | None) -> list[Evidence]:
        return [CRC] if group is TargetGroup.MIGRANTS else []


async def ask(place: Any, who: str, path: str, /, **options: Any) -> dict[str, Any]:
    person = place.person(who)
    exchange = await person.command(place.general.id, f"rejoinder {path}", **options)
    answer: dict[str, Any] = await person.told(exchange)
    return answer


async def test_the_queue_lists_open_cases_privately_and_leaves_hidden_groups_out(
    house: Any, platform: Any, start: Any
) -> None:
    await start()
    await add_pending(house.ledger, post(1))
    await add_pending(house.ledger, post(2), group=TargetGroup.WOMEN)
    queue = await ask(platform, "ana", "queue")
    assert "migrants 93 %" in queue["content"]
    assert "women 93 %" in queue["content"]
    assert "women" not in (await ask(platform, "ana", "queue", group="migrants"))["content"].splitlines()[0]
    await ask(platform, "ana", "hide", group="women")
    await ask(platform, "ana", "hide", group="people_of_colour")
    assert "women 93" not in (await ask(platform, "ana", "queue"))["content"]
    assert "women 93" in (await ask(platform, "ben", "queue"))["content"]


async def test_a_case_can_be_decided_from_a_private_card(house: Any, platform: Any, start: Any) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    number = await house.ledger.cards.number_of(key)
    card = await platform.card()
    private_card = await ask(platform, "ana", "case", case=str(number))
    assert field(private_card, "Draft")
    await platform.person("ana").press(private_card, "Approve")
    await platform.world.until(lambda: "Undo" in labels(private_card) and "Undo" in labels(card))
    assert "no case number 99" in (await ask(platform, "ana", "case", case="99"))["content"]


async def test_open_cases_are_suggested_while_typing(house: Any, platform: Any, start: Any) -> None:
    await start()
    keys = [await add_pending(house.ledger, post(number)) for number in (1, 2)]
    numbers = [str(await house.ledger.cards.number_of(key)) for key in keys]
    ana = platform.person("ana")
    offered = await ana.choices(platform.general.id, "rejoinder case", "case")
    assert offered == numbers
    assert await ana.choices(platform.general.id, "rejoinder case", "case", numbers[1]) == [numbers[1]]
    assert await ana.choices(platform.general.id, "rejoinder mute-source", "platform", "for") == ["forum"]


async def test_another_servers_cases_are_neither_suggested_nor_opened(house: Any, platform: Any, start: Any) -> None:
    second = platform.world.add_guild("Second Watch", {"chief": ""}, [("zoe", ["chief"]), ("yan", [])])
    hall = platform.world.add_channel(second, "hall")
    rules = (ChannelRule(channel=hall.id, platforms=("elsewhere",)),)
    await start(others={second.id: ChatWorkspace(rules=rules, leads=(second.roles["chief"],))})
    number = str(await house.ledger.cards.number_of(await add_pending(house.ledger, post(1))))
    zoe, yan, ana = (
        *(Person(platform.world, platform.gateway, second, second.members[name]) for name in ("zoe", "yan")),
        platform.person("ana"),
    )
    assert await ana.choices(platform.general.id, "rejoinder case", "case") == [number]
    assert await zoe.choices(hall.id, "rejoinder case", "case") == []
    assert await zoe.choices(hall.id, "rejoinder mute-source", "platform", "") == []
    assert await yan.choices(hall.id, "rejoinder case", "case") == []
    opened = await zoe.told(await zoe.command(hall.id, "rejoinder case", case=number))
    assert "no case number" in opened["content"]


async def test_a_redraft_may_name_another_way_that_is_offered(house: Any, platform: Any, start: Any) -> None:
    await start()
    house.desk.strategies = (StrategyName.COMPOSE, StrategyName.PLAIN)
    key = await add_pending(house.ledger, post(1))
    number = str(await house.ledger.cards.number_of(key))
    refusal = await ask(platform, "ana", "redraft", case=number, by="tournament")
    assert "tournament is not offered here; choose one of compose, plain" in refusal["content"]
    answer = await ask(platform, "ana", "redraft", case=number, by="plain")
    assert f"Another draft by plain is being written for case {number}" in answer["content"]
    assert (await house.desk.case(key)).request.strategy == "plain"


async def test_leads_set_intents_and_others_are_told_why_not(house: Any, platform: Any, start: Any) -> None:
    await start()
    refusal = await ask(platform, "ana", "intent set", intent="questioning")
    assert "Only a lead or an admin may set an intent" in refusal["content"]
    assert await house.ledger.moderator_settings.intents() == []
    await ask(platform, "lea", "intent set", intent="questioning")
    await ask(platform, "ada", "intent set", intent="positive", group="muslims")
    intents = await ask(platform, "ana", "intent show")
    assert "Group muslims: positive, set by ada" in intents["content"]
    assert "Everywhere on this server: questioning, set by lea" in intents["content"]
    refusal = await ask(platform, "lea", "intent set", intent="positive", group="muslims", language="es")
    assert "Name one of" in refusal["content"]


async def test_a_draft_and_evidence_are_answered_privately_and_inert(platform: Any, start: Any) -> None:
    await start(pipeline_cli=Answers())
    draft = await ask(platform, "ana", "draft", text="They ruin everything", intent="positive")
    assert "An answer, positive" in draft["content"]
    assert "@everyone" not in draft["content"]
    assert draft["embeds"][0]["url"] == CRC.source.url
    assert "No draft: not hateful" in (await ask(platform, "ana", "draft", text="lovely"))["content"]
    evidence = await ask(platform, "ana", "evidence", query="schools", group="migrants")
    assert len(evidence["embeds"]) == 1
    assert "Nothing fits" in (await ask(platform, "ana", "evidence", query="schools"))["content"]


async def test_a_paused_channel_gets_no_card_until_it_is_resumed(house: Any, platform: Any, start: Any) -> None:
    client = await start()
    assert "Only a lead" in (await ask(platform, "ana", "pause"))["content"]
    assert "more than 0" in (await ask(platform, "lea", "pause", hours=0.0))["content"]
    await ask(platform, "lea", "pause", hours=2.0)
    await add_pending(house.ledger, post(1))
    await client.card_sync.sync_once()
    await client.card_sync.wait_until_idle()
    assert cards(platform.world.in_channel(platform.general)) == []
    await ask(platform, "lea", "resume")
    assert await platform.card()


async def test_stats_come_with_a_picture(house: Any, platform: Any, start: Any) -> None:
    await start()
    await add_pending(house.ledger, post(1))
    await platform.person("ana").press(await platform.card(), "Approve")
    await platform.world.until(lambda: "Undo" in labels(platform.world.in_channel(platform.general)[0]))
    stats = await ask(platform, "ana", "stats", period="24h")
    assert "1 received, 1 approved as drafted" in stats["content"]
    assert stats["attachments"][0]["filename"].endswith(".png")
    assert stats["attachments"][0]["content"].startswith("\x89PNG")
    assert "is no period" in (await ask(platform, "ana", "stats", period="a while"))["content"]


async def test_assign_mute_export_settings_and_help_answer(house: Any, platform: Any, start: Any) -> None:
    await start()
    key = await add_pending(house.ledger, post(1))
    number = str(await house.ledger.cards.number_of(key))
    card = await platform.card()
    ben = platform.guild.members["ben"]
    assert "assigned to ben" in (await ask(platform, "lea", "assign", case=number, member=ben.id))["content"]
    assert "migrants" in (await ask(platform, "ben", "queue", mine=True))["content"]
    assert "forum is muted" in (await ask(platform, "lea", "mute-source", platform="forum"))["content"]
    await platform.world.until(lambda: ":5:" in str(card["components"]))
    await platform.person("ana").press(card, "Approve")
    await platform.world.until(lambda: "Undo" in labels(card))
    export = await ask(platform, "lea", "export")
    assert "forum/post-1" in export["attachments"][0]["content"]
    assert "Newcomers ruin" not in export["attachments"][0]["content"]
    assert "Only a lead" in (await ask(platform, "ana", "export"))["content"]
    assert platform.general.id in (await ask(platform, "ana", "settings"))["content"]
    assert "queue" in (await ask(platform, "ana", "help"))["content"]


async def test_somebody_without_the_reviewers_role_may_not_decide(house: Any, platform: Any, start: Any) -> None:
    await start(reviewers=(platform.guild.roles["reviewer"],))
    await add_pending(house.ledger, post(1))
    card = await platform.card()
    ben = platform.person("ben")
    assert "takes a reviewer's role" in (await ben.told(await ben.press(card, "Approve")))["content"]
    assert "takes a reviewer's role" in (await ask(platform, "ben", "queue"))["content"]
    await platform.person("ana").press(card, "Approve")
    await platform.world.until(lambda: "Undo" in labels(card))


async def test_a_surge_becomes_one_notice_that_counts(house: Any, platform: Any, start: Any) -> None:
    await start(care=CareSettings(surge_cards=3))
    for number in range(8):
        await add_pending(house.ledger, post(number))

    def notice() -> str:
        texts = [item["content"] for item in platform.world.in_channel(platform.general) if item["content"]]
        assert len(texts) <= 1
        return texts[0] if texts else ""

    await platform.world.until(lambda: "5 posts against migrants" in notice())
    assert len(cards(platform.world.in_channel(platform.general))) == 3


async def test_closed_cases_are_handed_over_noted_on_and_opened_again(house: Any, platform: Any, start: Any) -> None:
    await start()
    await house.ledger.stages.triage(post(1), triage_of(route=Route.ESCALATE))
    number = str(await house.ledger.cards.number_of("forum/post-1"))
    answer = await ask(platform, "ana", "hand-over", case=number, reason="to the police")
    assert answer["content"] == f"Case {number} is handed over."
    noted = await ask(platform, "ana", "note", case=number, text="They know *her* address.")
    assert field(noted, "Notes").endswith(r"): They know \*her\* address.")
    assert labels(noted) == ["Reopen and draft", "Hand over", "Handled"]
    await ask(platform, "ana", "handled", case=number)
    assert "nothing to see to" in (await ask(platform, "ana", "handled", case=number))["content"]
    assert "Too late or too early" in (await ask(platform, "ana", "retract", case=number, reason="why"))["content"]
    assert (await ask(platform, "ana", "queue", appeals=True))["content"] == "The queue is empty."
    await ask(platform, "ana", "reopen", case=number)
    assert (await house.desk.case("forum/post-1")).state == "triaged"
