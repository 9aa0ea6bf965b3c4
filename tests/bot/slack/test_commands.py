from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bot.pipeline_cli import PipelineCli
from core.domain import Intent, Origin, Route, StrategyName, TargetGroup, now
from tests.bot.samples import CHECKS, CRC, add_pending, fill, post, triage_of
from tests.bot.slack.conftest import ANA, CHANNEL, LEA, OUT, Floor, buttons, seen, until
from tests.factories import make_draft

PROGRAM = """
import json, sys
words, text = sys.argv[1:], sys.stdin.read()
if text == "fail":
    sys.exit("Error: the model is away")
if words[0] == "draft":
    print(json.dumps({"triage": {"reason": "hateful"}, "grounding": {"evidence": [EVIDENCE]}, "draft": DRAFT}))
else:
    print(json.dumps([] if text == "nothing" else [EVIDENCE]))
"""
DRAFT = make_draft(
    "terminal/1", text="Children learn together. Why not?", intent=Intent.POSITIVE, origin=Origin.MODEL, checks=CHECKS
)


@pytest.fixture
def pipeline_cli(tmp_path: Path) -> PipelineCli:
    parts = f"EVIDENCE = {CRC.model_dump(mode='json')!r}\nDRAFT = {json.loads(DRAFT.model_dump_json())!r}\n"
    program = tmp_path / "program.py"
    program.write_text(parts + PROGRAM)
    return PipelineCli((sys.executable, str(program)), timeout_s=30)


async def typed(floor: Floor, text: str, says: str, user: str = ANA) -> str:
    """Type a command and return what the answer shows."""
    floor.ephemerals().clear()
    answer = await floor.slack.people.command(user, CHANNEL, text)
    assert answer.sends == 1
    ephemeral = await floor.ephemeral(says)
    assert ephemeral["user"] == user
    return seen(ephemeral)


async def test_help_lists_the_commands(working: Floor) -> None:
    for text in ("", "help"):
        shown = await typed(working, text, "/rejoinder queue")
        for name in working.bot.commands.names:
            assert name in shown


async def test_the_queue_lists_open_cases_oldest_first_without_their_posts(working: Floor) -> None:
    await fill(working.house.ledger)
    shown = await typed(working, "queue", "people with disabilities")
    assert len(shown.splitlines()) == 12 and "Zorblaxians" not in shown
    assert "women" in await typed(working, "queue group:women", "women")


async def test_a_group_hidden_by_somebody_leaves_their_queue_alone(working: Floor) -> None:
    await fill(working.house.ledger)
    await typed(working, "hide other", "Nobody else is told")
    await typed(working, "queue", "women")
    assert await working.house.ledger.moderator_settings.hidden("ana") == {TargetGroup.OTHER}
    assert await working.house.ledger.moderator_settings.hidden("ben") == frozenset()


async def test_a_case_is_shown_by_number_with_its_buttons(working: Floor) -> None:
    await add_pending(working.house.ledger, post(1))
    await working.card()
    working.ephemerals().clear()
    await working.slack.people.command(ANA, CHANNEL, "case 1")
    await until(lambda: bool(working.ephemerals()))
    assert "approve" in buttons(working.ephemerals()[0])
    await typed(working, "case 99", "There is no case number 99")


async def test_a_redraft_may_name_another_way_that_is_offered(working: Floor) -> None:
    working.house.desk.strategies = (StrategyName.COMPOSE, StrategyName.PLAIN)
    key = await add_pending(working.house.ledger, post(1))
    await working.card()
    await typed(working, "redraft by:tournament 1", "tournament is not offered here; choose one of compose, plain")
    await typed(working, "redraft by:magic 1", "magic")
    await typed(working, "redraft by:plain 1", "Another draft by plain is being written for case 1")
    assert (await working.house.desk.case(key)).request.strategy == "plain"


async def test_a_note_or_a_reason_that_is_too_long_is_refused_instead_of_cut(working: Floor) -> None:
    key = await add_pending(working.house.ledger, post(1))
    await working.card()
    await typed(working, f"note 1 {'n' * 2_001}", "Nothing was done: your text has 2,001 characters; at most 2,000")
    assert (await working.house.desk.case(key)).notes == ()
    await typed(working, f"note 1 {'n' * 2_000}", "Noted on case 1.")
    noted = await working.house.desk.case(key)
    await working.house.ledger.decisions.dismiss(key, noted.version, "ana", "not_hateful", now())
    await typed(working, f"hand-over 1 {'r' * 501}", "Nothing was done: your text has 501 characters; at most 500 fit.")
    assert (await working.house.desk.case(key)).handled is False
    await typed(working, f"hand-over 1 {'r' * 500}", "Case 1 is handed over.")


async def test_an_intent_is_set_by_leads_and_shown_with_who_set_it(working: Floor) -> None:
    await typed(working, "intent set questioning group:muslims", "Only a lead")
    await typed(working, "intent set questioning for:group group:muslims", "Group muslims: questioning", LEA)
    await typed(working, "intent set positive", "Everywhere on this server: positive", LEA)
    await typed(working, "intent set denouncing for:channel", f"Channel {CHANNEL}: denouncing", LEA)
    await typed(working, "intent set denouncing for:server language:es", "Name one of", LEA)
    shown = await typed(working, "intent show", "Group muslims: questioning, set by lea on")
    assert "Everywhere on this server: positive" in shown
    await typed(working, "intent set none for:server", "no intent of its own", LEA)
    await typed(working, "intent set sarcastic", "choose one of informative", LEA)


async def test_a_paused_channel_gets_no_cards_until_it_is_resumed(working: Floor) -> None:
    await typed(working, "pause hours:2", "Paused until", LEA)
    await add_pending(working.house.ledger, post(1))
    await typed(working, "queue", "migrants")
    assert working.cards() == []
    await typed(working, "resume", "Resumed", LEA)
    await working.card()


async def test_a_muted_platform_gets_no_cards(working: Floor) -> None:
    await typed(working, "mute-source forum", "forum is muted here", LEA)
    await add_pending(working.house.ledger, post(1))
    await typed(working, "settings", "Muted: forum, by lea")
    assert working.cards() == []
    await typed(working, "unmute-source forum", "no longer muted", LEA)
    await working.card()


async def test_a_case_is_assigned_to_somebody_picked_from_slacks_list(working: Floor) -> None:
    await add_pending(working.house.ledger, post(1))
    await working.card()
    await typed(working, "assign 1 <@U0BEN|ben>", "Only a lead")
    await typed(working, "assign 1 <@U0ANA|ana>", "assigned to ana")
    await typed(working, "queue mine", "migrants")
    await typed(working, "assign 1 ben", "pick the name from Slack's list", LEA)


async def test_drafts_and_evidence_come_from_a_child_process_to_the_one_who_asked(
    floor: Floor, pipeline_cli: PipelineCli
) -> None:
    floor.pipeline_cli = pipeline_cli
    async with floor.working():
        shown = await typed(floor, "draft intent:positive --json <!channel> they ruin it", "Children learn together")
        assert "Convention on the Rights of the Child" in shown
        await typed(floor, "evidence group:migrants school", "States recognise")
        await typed(floor, "evidence nothing", "Nothing fits")
        await typed(floor, "draft fail", "the model is away")
        await typed(floor, "draft", "Nothing was asked")


async def test_figures_and_exports_come_as_files_in_private(working: Floor) -> None:
    await add_pending(working.house.ledger, post(1))
    await working.press("approve")
    await working.card("ana approved it")
    await typed(working, "stats 7d", "1 received, 1 approved as drafted")
    await typed(working, "export", "Only a lead")
    await typed(working, "export 7d", "1 decision since", LEA)
    await typed(working, "stats soon", "is no period")
    picture, table = working.slack.at.files.values()
    assert picture["data"].startswith(b"\x89PNG") and picture["channel"] == f"D{ANA}"
    assert b"forum/post-1" in table["data"] and table["channel"] == f"D{LEA}"


async def test_an_unknown_command_and_a_stranger_are_told_what_to_do(working: Floor) -> None:
    await typed(working, "dance", "try /rejoinder help")
    await typed(working, "queue", "You may look but not decide", OUT)


async def test_closed_cases_are_handed_over_noted_on_and_opened_again(working: Floor) -> None:
    ledger = working.house.ledger
    await ledger.stages.triage(post(1), triage_of(route=Route.ESCALATE))
    await ledger.cards.number_of("forum/post-1")
    await typed(working, "hand-over 1", "needs a reason")
    await typed(working, "hand-over 1 to the police", "Case 1 is handed over.")
    shown = await typed(working, "note 1 They know *her* address.", "Noted on case 1.")
    assert "ana: They know *her* address." in shown
    await typed(working, "handled 1 reported", "Case 1 is marked as handled.")
    await typed(working, "handled 1", "nothing to see to")
    await typed(working, "reopen 1", "Case 1 is open again")
    assert (await working.house.desk.case("forum/post-1")).state == "triaged"


async def test_an_appeal_is_listed_and_the_reply_is_retracted(working: Floor) -> None:
    ledger = working.house.ledger
    key = await add_pending(ledger, post(1))
    await ledger.decisions.approve(key, 4, "ana", DRAFT.text, "approved", now())
    for row in await ledger.outbox.lease("test", 30, 10):
        await ledger.outbox.note_sent(row, "test")
    await ledger.casework.appeal(key, "site", "It was a joke.")
    await typed(working, "queue", "Appeals: 1. List them with: queue appeals")
    await typed(working, "queue appeals", "1: migrants 93 %")
    shown = await typed(working, "retract 1 a wrong figure", "Case 1 is retracted; the platform is told.")
    assert "The reply was retracted." in shown and "appeal by site: It was a joke." in shown
    await typed(working, "queue appeals", "The queue is empty.")
