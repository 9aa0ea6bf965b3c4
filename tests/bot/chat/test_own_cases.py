"""Two servers on one desk: each sees, suggests, counts and decides its own cases alone."""

from __future__ import annotations

import pytest

from bot.chat.commands import Commands
from bot.chat.decision_dialogue import DecisionDialogue, DecisionRequest, Refusal
from bot.chat.languages import Languages
from bot.chat.own_cases import OwnCases
from bot.chat.place import Place
from bot.permissions import Moderator
from bot.pipeline_cli import PipelineCli
from core.domain import Action, Decision
from core.errors import CaseNotFound
from core.settings import ChannelRule, ChatWorkspace
from tests.bot.conftest import House
from tests.bot.samples import PLATFORM, add_pending, post

HERE, THERE = Place("slack", "here", "1"), Place("slack", "there", "2")
SERVERS = {
    "here": ChatWorkspace(rules=(ChannelRule(channel="1", platforms=(PLATFORM,)),)),
    "there": ChatWorkspace(rules=(ChannelRule(channel="2", platforms=("elsewhere",)),)),
}
ANA, LEA = Moderator("ana", "reviewer"), Moderator("lea", "lead")


@pytest.fixture
def own_cases(house: House) -> OwnCases:
    return OwnCases(house.desk, house.ledger.cards, SERVERS)


@pytest.fixture
def commands(house: House, own_cases: OwnCases) -> Commands:
    languages = Languages("discord", SERVERS, house.ledger.moderator_settings)
    return Commands(house.desk, house.ledger, SERVERS, own_cases, languages, PipelineCli())


@pytest.fixture
async def key(house: House) -> str:
    return await add_pending(house.ledger, post(1))


@pytest.fixture
async def number(house: House, key: str) -> int:
    return await house.ledger.cards.number_of(key)


async def test_a_queue_lists_the_servers_own_cases(commands: Commands, number: int) -> None:
    assert (await commands.queue(HERE, ANA)).lines[0].startswith(f"{number}:")
    assert (await commands.queue(THERE, ANA)).lines == ("The queue is empty.",)


async def test_what_somebody_holds_here_is_not_listed_there(
    house: House, commands: Commands, key: str, number: int
) -> None:
    await house.desk.decide(key, Decision(action=Action.CLAIM, version=4), ANA)
    assert (await commands.queue(HERE, ANA, mine=True)).lines[0].startswith(f"{number}:")
    assert (await commands.queue(THERE, ANA, mine=True)).lines == ("Nothing waits for you.",)


async def test_a_case_of_another_server_is_as_one_that_is_not_there(commands: Commands, key: str, number: int) -> None:
    assert (await commands.case(HERE, str(number))).case
    for id in (str(number), key):
        with pytest.raises(CaseNotFound, match="here is no case") as there:
            await commands.case(THERE, id)
        assert there.value.case is None
        with pytest.raises(CaseNotFound):
            await commands.dismiss(THERE, LEA, id)
        with pytest.raises(CaseNotFound):
            await commands.assign(THERE, LEA, id, LEA)


async def test_only_own_cases_and_platforms_are_suggested(commands: Commands, number: int) -> None:
    assert [suggested for suggested, _ in await commands.suggested_cases(HERE, "")] == [number]
    assert await commands.suggested_platforms(HERE, "") == [PLATFORM]
    assert await commands.suggested_cases(THERE, "") == []
    assert await commands.suggested_platforms(THERE, "") == []


async def test_figures_and_exports_are_of_the_cases_shown_on_the_server(
    house: House, commands: Commands, key: str
) -> None:
    await house.ledger.cards.reserve("slack", "here", key, "1")
    await house.desk.decide(key, Decision(action=Action.APPROVE, version=4), ANA)
    assert "1 received, 1 approved as drafted" in (await commands.stats(HERE)).lines[0]
    assert "0 received, 0 approved as drafted" in (await commands.stats(THERE)).lines[0]
    exported = [(await commands.export(place, LEA)).attachment for place in (HERE, THERE)]
    assert [file is not None and key.encode() in file.data for file in exported] == [True, False]


async def test_no_button_of_another_server_opens_or_decides_a_case(
    house: House, own_cases: OwnCases, key: str, number: int
) -> None:
    dialogue = DecisionDialogue(house.desk, own_cases, house.changes)
    with pytest.raises(CaseNotFound):
        await dialogue.case("there", number)
    with pytest.raises(CaseNotFound):
        await dialogue.open("there", DecisionRequest(Action.EDIT, number, 4))
    outcome = await dialogue.decide("there", DecisionRequest(Action.APPROVE, number, 4), LEA)
    assert isinstance(outcome, Refusal) and outcome.case is None and "There is no case number" in outcome.message
    assert (await house.desk.case(key)).version == 4
