from __future__ import annotations

import logging
from unittest.mock import create_autospec

import pytest

from bot.chat.decision_dialogue import FAULT, DecisionDialogue, DecisionRequest, Refusal
from bot.chat.own_cases import OwnCases
from bot.desk import Desk
from bot.permissions import Moderator
from core.domain import Action, Case, CaseState, Decision, Intent, now
from core.errors import LedgerUnavailable
from core.settings import ChatWorkspace
from tests.bot.conftest import House
from tests.bot.samples import DRAFT, add_escalated, add_pending, post

HERE = "1"
SERVERS = {HERE: ChatWorkspace(channel="10")}
ANA, BEN, LEA = Moderator("ana", "reviewer"), Moderator("ben", "reviewer"), Moderator("lea", "lead")
OWN = "Schools are for every child. What would you say to a newcomer's parents?"
FAILING = "A forbidden word. And more."


@pytest.fixture
def dialogue(house: House) -> DecisionDialogue:
    return DecisionDialogue(house.desk, OwnCases(house.desk, house.ledger.cards, SERVERS), house.changes)


async def pending(house: House, draft: str = DRAFT) -> tuple[Case, int]:
    key = await add_pending(house.ledger, post(1), draft)
    return await house.desk.case(key), await house.ledger.cards.number_of(key)


async def move_on(house: House, key: str) -> Case:
    """Let somebody claim the case and let it go: it is pending as before, two versions later."""
    for action in (Action.CLAIM, Action.RELEASE):
        case = await house.desk.case(key)
        await house.desk.decide(key, Decision(action=action, version=case.version), BEN)
    return await house.desk.case(key)


async def refused(dialogue: DecisionDialogue, request: DecisionRequest, who: Moderator = ANA) -> Refusal:
    outcome = await dialogue.decide(HERE, request, who)
    assert isinstance(outcome, Refusal)
    return outcome


async def test_a_form_opens_with_the_draft_or_the_intent(house: House, dialogue: DecisionDialogue) -> None:
    case, number = await pending(house)
    edit = await dialogue.open(HERE, DecisionRequest(Action.EDIT, number, case.version))
    redraft = await dialogue.open(HERE, DecisionRequest(Action.REDRAFT, number, case.version))
    reject = DecisionRequest(Action.REJECT, number, case.version)
    assert (edit.text, redraft.choice) == (DRAFT, Intent.INFORMATIVE)
    assert await dialogue.open(HERE, reject) == reject


@pytest.mark.parametrize(
    ("action", "text", "choice"),
    [(Action.EDIT, OWN, None), (Action.REJECT, "too sharp", "tone"), (Action.REDRAFT, "ask more", "questioning")],
)
async def test_a_stale_form_opens_again_with_everything_on_the_version_the_case_has_now(
    house: House, dialogue: DecisionDialogue, action: Action, text: str, choice: str | None
) -> None:
    case, number = await pending(house)
    moved = await move_on(house, case.key)
    refusal = await refused(dialogue, DecisionRequest(action, number, case.version, text, choice))
    assert "You saw version" in refusal.message
    assert refusal.form == DecisionRequest(action, number, moved.version, text, choice)
    assert not refusal.may_override
    done = await dialogue.decide(HERE, refusal.form, ANA)
    assert isinstance(done, Case) and done.state is not CaseState.PENDING


async def test_a_stale_hand_over_opens_again_on_the_version_the_escalated_case_has_now(
    house: House, dialogue: DecisionDialogue
) -> None:
    case = await house.desk.case(await add_escalated(house.ledger, post(1)))
    request = DecisionRequest(
        Action.HAND_OVER, await house.ledger.cards.number_of(case.key), case.version, "to a lawyer"
    )
    noted = await house.desk.note(case.key, "They know the author.", BEN)
    refusal = await refused(dialogue, request)
    assert refusal.form is not None and (refusal.form.version, refusal.form.text) == (noted.version, "to a lawyer")
    done = await dialogue.decide(HERE, refusal.form, ANA)
    assert isinstance(done, Case) and done.decided_why == "to a lawyer"


async def test_a_form_on_a_case_that_another_decided_keeps_its_text(house: House, dialogue: DecisionDialogue) -> None:
    case, number = await pending(house)
    await house.ledger.decisions.reject(case.key, case.version, "ben", "tone", now())
    request = DecisionRequest(Action.EDIT, number, case.version, OWN)
    refusal = await refused(dialogue, request)
    assert "ben rejected it" in refusal.message
    assert refusal.form == request


@pytest.mark.parametrize(("who", "may_override"), [(ANA, False), (LEA, True)])
async def test_a_text_that_fails_comes_back_and_only_a_lead_may_override(
    house: House, dialogue: DecisionDialogue, who: Moderator, may_override: bool
) -> None:
    case, number = await pending(house)
    request = DecisionRequest(Action.EDIT, number, case.version, FAILING)
    refusal = await refused(dialogue, request, who)
    assert refusal.failed_checks == ("fails: insults nobody (a word; 1 of 0)",)
    assert (refusal.form, refusal.may_override) == (request, may_override)
    outcome = await dialogue.decide(HERE, refusal.request, who, override=True)
    assert isinstance(outcome, Case) is may_override


@pytest.mark.parametrize("action", [Action.APPROVE, Action.CLAIM, Action.RELEASE])
async def test_anothers_claim_is_overridden_by_leads_alone(
    house: House, dialogue: DecisionDialogue, action: Action
) -> None:
    case, number = await pending(house)
    held = await house.desk.decide(case.key, Decision(action=Action.CLAIM, version=case.version), BEN)
    request = DecisionRequest(action, number, held.version)
    refusal = await refused(dialogue, request)
    assert "ben" in refusal.message
    assert (refusal.form, refusal.may_override) == (None, False)
    assert (await refused(dialogue, request, LEA)).may_override
    assert isinstance(await dialogue.decide(HERE, request, LEA, override=True), Case)


async def test_a_rejection_without_a_reason_is_asked_for_one(house: House, dialogue: DecisionDialogue) -> None:
    case, number = await pending(house)
    request = DecisionRequest(Action.REJECT, number, case.version)
    refusal = await refused(dialogue, request)
    assert "A rejection needs a reason" in refusal.message
    assert refusal.form == request


async def test_nothing_is_lost_while_the_ledger_is_away(
    house: House, dialogue: DecisionDialogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, number = await pending(house)
    away = LedgerUnavailable("The ledger's database can't be reached.")
    monkeypatch.setattr(Desk, "decide", create_autospec(Desk.decide, side_effect=away))
    request = DecisionRequest(Action.EDIT, number, case.version, OWN)
    refusal = await refused(dialogue, request)
    assert refusal.message.startswith("That did not work, and nothing was changed.")
    assert refusal.form == request


async def test_a_fault_of_ours_is_logged_and_keeps_the_text(
    house: House, dialogue: DecisionDialogue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    case, number = await pending(house)
    monkeypatch.setattr(Desk, "decide", create_autospec(Desk.decide, side_effect=ZeroDivisionError))
    request = DecisionRequest(Action.EDIT, number, case.version, OWN)
    refusal = await refused(dialogue, request)
    assert (refusal.message, refusal.form) == (FAULT, request)
    assert [record.levelno for record in caplog.records if record.exc_info] == [logging.ERROR]
