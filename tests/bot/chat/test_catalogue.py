"""Everything that the chats say comes from the catalogue: it is all said in a language of brackets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from discord import app_commands

from bot.chat.cards import Card, build_card
from bot.chat.command_answer import CommandAnswer
from bot.chat.command_help import COMMANDS, help_lines
from bot.chat.commands import Commands
from bot.chat.decision_dialogue import FORM_ACTIONS, DecisionRequest, Refusal, message_of, refuse
from bot.chat.escalations import escalation_text
from bot.chat.languages import Languages
from bot.chat.own_cases import OwnCases
from bot.chat.people import moderator
from bot.chat.place import Place
from bot.chat.reminders import LOOKED_THROUGH, reminder
from bot.chat.surge import surge_text
from bot.discord.forms import decision_form
from bot.discord.render import card_embed, card_view
from bot.discord.slash import IntentGroup, SlashCommands
from bot.permissions import Moderator
from bot.pipeline_cli import PipelineCli
from bot.slack.blocks import card_blocks, post_blocks, summary
from bot.slack.command_text import one_of, parse
from bot.slack.commands import _USAGES
from bot.slack.modals import decision_modal, refused_modal
from bot.translation import LANGUAGES, speaking
from core.domain import (
    Action,
    Case,
    CaseState,
    Check,
    Draft,
    EventKind,
    Evidence,
    Grounding,
    Intent,
    Note,
    Origin,
    StrategyName,
    TargetGroup,
    now,
)
from core.errors import ChatUnavailable, ClaimedByOther, FailsChecks, LedgerUnavailable, RejoinderError
from core.settings import ChannelRule, ChatWorkspace
from ledger.moderator_settings import ScopeKind
from tests.bot.catalogues import messages_in_source
from tests.bot.chat.pseudo import modal_texts, speaking_pseudo, untranslated
from tests.bot.conftest import House
from tests.bot.discord import rules
from tests.bot.samples import CLAIM, CRC, DRAFT, HEARSAY, UDHR, add_answered, add_doubtful, add_pending, post
from tests.bot.slack.block_kit import complaints_about_message, complaints_about_modal, texts
from tests.factories import make_draft, make_grounding

RULES = (ChannelRule(channel="20", platforms=("elsewhere",)), ChannelRule(channel="21"))
SERVERS = {"1": ChatWorkspace(channel="10", rules=RULES), "2": ChatWorkspace()}
HERE = Place("discord", "1", "10")
LEA, ANA = Moderator("lea", "lead"), Moderator("ana", "reviewer")
PEOPLE = ("ana", "ben", "lea")
IDS = (*PEOPLE, "forum", "sample-model", "positive.csv", *StrategyName, *TargetGroup, "en", "es")
CITED = [item.source for item in (CRC, UDHR, HEARSAY)]
SOURCES = [part for source in CITED for part in (source.institution, source.symbol, source.locator)]
FAILED = Check(name="insult", passed=False, value=1, threshold=0)


@pytest.fixture
def brackets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with speaking_pseudo(monkeypatch):
        yield


@pytest.fixture
async def cases(house: House) -> list[Case]:
    """Return a case of every kind that a card shows differently."""
    keys = [
        await add_pending(house.ledger, post(1)),
        await add_answered(house.ledger, post(2), hate=0.34),
        await add_doubtful(house.ledger, post(3)),
        await add_pending(house.ledger, post(4), origin=Origin.NONE, note="The model gave no reading of the post."),
    ]
    pending, answered, doubtful, empty = [await house.desk.case(key) for key in keys]
    later = now() + timedelta(minutes=5)
    notes = (
        Note(kind=EventKind.NOTE, version=2, at=now(), who="ana", text="…"),
        Note(kind=EventKind.APPEAL, version=3, at=now(), who="ben", text="…"),
    )
    threaded = pending.post.model_copy(update={"context": ("One.", "Two.")})

    def like(case: Case, **more: Any) -> Case:
        return case.model_copy(update=more)

    def ended(state: CaseState, **more: Any) -> Case:
        return like(pending, state=state, decided_by="ana", **more)

    return [
        pending, answered, doubtful, empty, like(pending, notes=notes, post=threaded),
        like(pending, claimed_by="ben", claimed_until=later), like(pending, triage=None),
        like(pending, grounding=make_grounding(*[CRC] * 8)),
        *(like(pending, state=state) for state in (CaseState.RECEIVED, CaseState.TRIAGED, CaseState.GROUNDED)),
        ended(CaseState.APPROVED, release_at=later, final_text="One. Two."),
        ended(CaseState.RELEASED, final_text="One. Two.", retracted_at=now()),
        ended(CaseState.REJECTED, decided_why="tone"), ended(CaseState.DISMISSED, appealed=True),
        like(pending, state=CaseState.DISMISSED), like(pending, state=CaseState.ESCALATED, handled=True),
        like(pending, state=CaseState.FAILED, error="There is no text."),
    ]  # fmt: skip


def data_of(card: Card) -> tuple[str, ...]:
    """Return what a card shows that nobody translates."""
    evidence = [part for line in card.evidence for part in (line.text, line.title)]
    words = (card.post, card.draft, card.final_text or "", CLAIM.gist, "repeats: school, children")
    return (*IDS, card.case_key, *words, *evidence, *SOURCES, HEARSAY.region)


def on_discord(card: Card) -> list[str]:
    embed = card_embed(card, 12).to_dict()
    fields = [text for field in embed["fields"] for text in (field["name"], field["value"])]
    return [embed["title"], embed["description"], *fields, *modal_texts(card_view(card, 12).to_components())]


def on_slack(card: Card) -> list[str]:
    blocks = [block.to_dict() for block in (*card_blocks(card, 12), *post_blocks(card))]
    return [summary(card), *texts(blocks)]


async def test_cards_say_nothing_but_what_is_in_the_catalogue(cases: list[Case], brackets: None) -> None:
    for case in cases:
        card = build_card(case)
        shown = [*on_discord(card), *on_slack(card)]
        assert untranslated(shown, *data_of(card)) == [], case.state


def requests() -> list[DecisionRequest]:
    return [
        DecisionRequest(action, 12, 3, "", None, None, (StrategyName.COMPOSE, StrategyName.PLAIN))
        for action in FORM_ACTIONS
    ]


def refusal(request: DecisionRequest) -> Refusal:
    return refuse(request, FailsChecks("…", (FAILED,)), LEA)


def test_forms_say_nothing_but_what_is_in_the_catalogue(brackets: None) -> None:
    for request in requests():
        for form in (decision_form(request), decision_form(replace(request, text="x" * 4_001))):
            assert untranslated(modal_texts(form.to_dict()), *IDS) == []
        for view in (decision_modal(request), refused_modal(refusal(request))):
            assert untranslated(texts(view.to_dict()), *IDS) == []
    assert untranslated([label for request in requests() if (label := refusal(request).form_label)]) == []


class Answers(PipelineCli):
    async def draft(self, text: str, intent: Intent | None) -> tuple[Draft | None, Grounding | None, str]:
        draft = make_draft("terminal/1", text="" if intent else DRAFT, origin=Origin.MODEL)
        return draft, make_grounding(CRC), "There is no text."

    async def evidence(self, query: str, group: TargetGroup | None) -> list[Evidence]:
        return [CRC, HEARSAY] if group else []


@pytest.fixture
def commands(house: House) -> Commands:
    languages = Languages("discord", SERVERS, house.ledger.moderator_settings)
    own_cases = OwnCases(house.desk, house.ledger.cards, SERVERS)
    return Commands(house.desk, house.ledger, SERVERS, own_cases, languages, Answers())


async def answers(commands: Commands, id: str) -> AsyncIterator[Awaitable[CommandAnswer]]:
    """Yield every answer to a command, in an order in which each finds something to do."""
    yield commands.queue(HERE, ANA)
    yield commands.queue(HERE, ANA, doubtful=True)
    yield commands.queue(HERE, ANA, appeals=True)
    yield commands.queue(HERE, ANA, mine=True)
    yield commands.show_intents(HERE)
    for named in ({}, {ScopeKind.GROUP: "muslims"}, {ScopeKind.LANGUAGE: "es"}, {ScopeKind.CHANNEL: ""}):
        yield commands.set_intent(HERE, LEA, Intent.POSITIVE, named)
    yield commands.show_intents(HERE)
    yield commands.set_intent(HERE, LEA, None, {})
    yield commands.draft("…", None)
    yield commands.draft("…", Intent.POSITIVE)
    yield commands.evidence("…", TargetGroup.MIGRANTS)
    yield commands.evidence("…", None)
    for hours in (2.0, None):
        yield commands.pause(HERE, LEA, on=True, hours=hours)
        yield commands.mute(HERE, LEA, "forum", on=True, hours=hours)
        yield commands.settings(HERE)
    yield commands.settings(Place("discord", "2", "10"))
    yield commands.pause(HERE, LEA, on=False)
    yield commands.mute(HERE, LEA, "forum", on=False)
    yield commands.assign(HERE, LEA, id, ANA)
    yield commands.note(HERE, ANA, id, "…")
    yield commands.redraft(HERE, ANA, id)
    yield commands.hide(ANA, TargetGroup.WOMEN, hidden=True)
    yield commands.hide(ANA, TargetGroup.WOMEN, hidden=False)
    yield commands.language(ANA, "it")
    yield commands.language(ANA, None)
    yield commands.stats(HERE)
    yield commands.export(HERE, LEA)


async def mistakes(commands: Commands, id: str) -> AsyncIterator[Awaitable[CommandAnswer]]:
    """Yield what is asked for and refused."""
    yield commands.pause(HERE, ANA, on=True)
    yield commands.pause(HERE, LEA, on=True, hours=-1)
    yield commands.mute(HERE, LEA, "", on=True)
    yield commands.case(HERE, "")
    yield commands.case(HERE, "99")
    yield commands.case(HERE, "forum/none")
    yield commands.case(Place("discord", "2", "10"), id)
    yield commands.assign(HERE, ANA, id, LEA)
    yield commands.note(HERE, ANA, id, "…" * 2_001)
    yield commands.language(ANA, "tlh")
    yield commands.stats(HERE, "soon")
    yield commands.set_intent(HERE, LEA, None, {ScopeKind.GROUP: "x", ScopeKind.LANGUAGE: "es"})
    for action in (Action.REOPEN, Action.HAND_OVER, Action.HANDLE, Action.RETRACT):
        yield commands.after_the_end(HERE, ANA, action, id)


async def test_answers_to_commands_come_from_the_catalogue(house: House, commands: Commands, brackets: None) -> None:
    keys = [await add_pending(house.ledger, post(number)) for number in range(12)]
    await add_doubtful(house.ledger, post(20))
    id = str(await house.ledger.cards.number_of(keys[0]))
    said = []
    async for answer in answers(commands, id):
        said += [*(await answer).lines]
    case = await house.desk.case(keys[1])
    await house.ledger.decisions.dismiss(case.key, case.version, "ana", "not_hateful", now())
    for action in (Action.HANDLE, Action.HAND_OVER, Action.REOPEN):
        second = str(await house.ledger.cards.number_of(keys[1]))
        said += (await commands.after_the_end(HERE, LEA, action, second, "…")).lines
    third = str(await house.ledger.cards.number_of(keys[2]))
    said += (await commands.dismiss(HERE, ANA, third)).lines
    csv = f"rejoinder-{now():%Y-%m-%d}.csv"
    assert untranslated(said, *IDS, "muslims", csv, *LANGUAGES.values(), "queue appeals", "queue doubtful") == []
    assert len(said) > 60


async def test_what_is_refused_is_told_from_the_catalogue(house: House, commands: Commands, brackets: None) -> None:
    id = str(await house.ledger.cards.number_of(await add_pending(house.ledger, post(1))))
    told = []
    async for mistake in mistakes(commands, id):
        with pytest.raises(RejoinderError) as error:
            await mistake
        told.append(message_of(error.value))
    for attempt in (
        lambda: moderator(SERVERS["1"], "discord", "7", "zed", []),
        lambda: parse("pause hours:x").hours(),
        lambda: one_of(TargetGroup, "x"),
    ):
        with pytest.raises(RejoinderError) as error:
            attempt()
        told.append(message_of(error.value))
    told += [message_of(kind("the broker is away")) for kind in (LedgerUnavailable, ChatUnavailable, ZeroDivisionError)]
    approval = DecisionRequest(Action.APPROVE, 12, 3)
    override = refuse(approval, ClaimedByOther("case a/b is claimed by ben for another 5 min; ask them, or wait"), LEA)
    told += [override.message, override.override_label or "", refusal(approval).override_label or ""]
    assert untranslated(told, *IDS) == []


def test_notices_come_from_the_catalogue(brackets: None) -> None:
    hour = timedelta(hours=1)
    why = "It concerns the sexual safety of children: a person has to look, so nothing is drafted."
    notices = [reminder(count, hour, doubtful) for count in (1, 5, LOOKED_THROUGH) for doubtful in (0, 1, 2)]
    notices += [surge_text(TargetGroup.MUSLIMS, count, hour) for count in (1, 37)]
    notices += [escalation_text(count, why, 7, length) for count in (1, 3) for length in (timedelta(0), hour)]
    assert untranslated([*notices, escalation_text(1, "", 7, hour)]) == []


def test_help_and_every_description_of_a_command_come_from_the_catalogue(brackets: None) -> None:
    usages = [text for text in dict(_USAGES).values() if "⟦" not in text]
    assert untranslated(help_lines(dict(_USAGES), "/rejoinder "), *usages, *COMMANDS) == []
    known = messages_in_source()
    for command in walk([SlashCommands, IntentGroup]):
        described = [command.description, *(parameter.description for parameter in command.parameters)]
        assert [text for text in map(str, described) if text not in known and text != "…"] == []


def walk(groups: list[type[app_commands.Group]]) -> Iterator[app_commands.Command[Any, ..., Any]]:
    for group in groups:
        for child in group.__discord_app_commands_group_children__:
            assert isinstance(child, app_commands.Command)
            yield child


@pytest.mark.parametrize("language", LANGUAGES)
async def test_in_every_language_all_fits_what_the_platforms_take(cases: list[Case], language: str) -> None:
    with speaking(language):
        for request in requests():
            rules.check_modal(decision_form(request).to_dict())
            for view in (decision_modal(request), refused_modal(refusal(request))):
                assert complaints_about_modal(view.to_dict()) == []
        for card in map(build_card, cases):
            buttons = card_view(card, 12).to_components()
            rules.check_message({"embeds": [card_embed(card, 12).to_dict()], "components": buttons})
            assert complaints_about_message([block.to_dict() for block in card_blocks(card, 12)]) == []
