from __future__ import annotations

from datetime import timedelta

import pytest

from bot.desk import CaseQuery, Desk
from bot.permissions import Moderator, allowed, undoable
from bot.wording import standing
from core.domain import Action, CaseState, Check, Decision, Origin, Route, failed, now
from core.errors import (
    BadInput,
    CaseNotFound,
    ClaimedByOther,
    FailsChecks,
    Forbidden,
    NotAllowed,
    RejoinderError,
    StaleVersion,
)
from core.lifecycle import StageName
from core.settings import DeskSettings, Settings
from ledger import Ledger
from pipeline.guard import Guard
from rejoinder.guard_assembly import open_guard
from tests.bot.asking import ADA, ANA, BEN, LEA, ask, pending
from tests.bot.samples import CHECKS, DRAFT, add_doubtful, add_draft, add_pending, post, triage_of

ASKS = {
    Action.CLAIM: {},
    Action.RELEASE: {},
    Action.APPROVE: {},
    Action.EDIT: {"text": "A text of one's own. It has two sentences."},
    Action.REJECT: {"reason": "tone"},
    Action.DISMISS: {},
    Action.REDRAFT: {"intent": "questioning"},
    Action.UNDO: {},
    Action.ASSIGN: {},
    Action.REOPEN: {},
    Action.HAND_OVER: {"reason": "to the lawyers"},
    Action.HANDLE: {},
    Action.RETRACT: {"reason": "a wrong figure"},
}


async def in_state(ledger: Ledger, desk: Desk, state: CaseState) -> str:
    """Bring a case to a state the way it gets there in life."""
    flagged = post(1)
    if state in (CaseState.RECEIVED, CaseState.TRIAGED, CaseState.DISMISSED, CaseState.ESCALATED, CaseState.FAILED):
        await ledger.stages.receive([flagged])
        routes = {CaseState.TRIAGED: Route.DRAFT, CaseState.DISMISSED: Route.DISMISS,
                  CaseState.ESCALATED: Route.ESCALATE}  # fmt: skip
        if state in routes:
            await ledger.stages.triage(flagged, triage_of(route=routes[state]))
        if state is CaseState.FAILED:
            await ledger.stages.fail(flagged.key, StageName.TRIAGE, "the model is away")
        return flagged.key
    key = await pending(ledger)
    if state is CaseState.GROUNDED:
        await ask(desk, key, Action.REDRAFT)
    if state is CaseState.APPROVED:
        await ask(desk, key, Action.APPROVE)
    if state is CaseState.REJECTED:
        await ask(desk, key, Action.REJECT, reason="tone")
    return key


ALLOWED = {
    Action.CLAIM: {CaseState.PENDING},
    Action.RELEASE: set[CaseState](),
    Action.APPROVE: {CaseState.PENDING},
    Action.EDIT: {CaseState.PENDING},
    Action.REJECT: {CaseState.PENDING},
    Action.DISMISS: {CaseState.PENDING},
    Action.REDRAFT: {CaseState.PENDING},
    Action.UNDO: {CaseState.APPROVED, CaseState.REJECTED},
    Action.ASSIGN: {CaseState.GROUNDED, CaseState.PENDING, CaseState.ESCALATED},
    # What was rejected here is still to be undone; `test_closed_cases.py` opens it later.
    Action.REOPEN: {CaseState.DISMISSED, CaseState.ESCALATED},
    Action.HAND_OVER: {CaseState.DISMISSED, CaseState.ESCALATED},
    Action.HANDLE: {CaseState.DISMISSED, CaseState.ESCALATED},
    Action.RETRACT: set[CaseState](),
}
AFTERWARDS = {
    Action.CLAIM: CaseState.PENDING,
    Action.APPROVE: CaseState.APPROVED,
    Action.EDIT: CaseState.APPROVED,
    Action.REJECT: CaseState.REJECTED,
    Action.DISMISS: CaseState.DISMISSED,
    Action.REDRAFT: CaseState.GROUNDED,
    Action.UNDO: CaseState.PENDING,
    Action.REOPEN: CaseState.TRIAGED,
    Action.HAND_OVER: CaseState.ESCALATED,
}
STATES = [state for state in CaseState if state is not CaseState.RELEASED]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("action", list(Action))
async def test_each_action_works_in_its_states_and_changes_nothing_in_the_others(
    desk: Desk, ledger: Ledger, action: Action, state: CaseState
) -> None:
    key = await in_state(ledger, desk, state)
    before = await desk.case(key)
    assert before.state is state
    assert (action in allowed(before, ANA)) is (state in ALLOWED[action])
    if state in ALLOWED[action]:
        assert (await ask(desk, key, action, **ASKS[action])).state is AFTERWARDS.get(action, state)
        return
    with pytest.raises((NotAllowed, BadInput)):
        await ask(desk, key, action, **ASKS[action])
    assert await desk.case(key) == before


@pytest.mark.parametrize("who", [ANA, LEA, ADA], ids=lambda who: who.role)
@pytest.mark.parametrize(
    "action", [action for action in Action if CaseState.PENDING in ALLOWED[action] or action is Action.RELEASE]
)
async def test_anothers_claim_holds_until_a_lead_overrides_it(
    desk: Desk, ledger: Ledger, action: Action, who: Moderator
) -> None:
    key = await pending(ledger)
    await ask(desk, key, Action.CLAIM, BEN)
    if action is Action.ASSIGN:
        assert (await ask(desk, key, action, who)).claimed_by == "ben"
        return
    with pytest.raises(ClaimedByOther) as refused:
        await ask(desk, key, action, who, **ASKS[action])
    assert "ben" in str(refused.value)
    if not who.leads:
        with pytest.raises(Forbidden, match="ask a lead"):
            await ask(desk, key, action, who, override=True, **ASKS[action])
        return
    after = await ask(desk, key, action, who, override=True, **ASKS[action])
    assert after.claimed_by == {Action.CLAIM: who.name, Action.REDRAFT: "ben"}.get(action)


async def test_a_claimed_case_is_its_holders_and_a_lead_may_take_it_over(desk: Desk, ledger: Ledger) -> None:
    key = await pending(ledger)
    free = allowed(await desk.case(key), ANA)
    case = await ask(desk, key, Action.CLAIM, ANA)
    assert allowed(case, ANA) == free | {Action.RELEASE}
    assert allowed(case, BEN) == {Action.ASSIGN}
    assert allowed(case, LEA) == {Action.CLAIM, Action.ASSIGN}
    waits_for_its_redraft = await ask(desk, key, Action.REDRAFT, ANA)
    assert allowed(waits_for_its_redraft, ANA) == {Action.RELEASE, Action.ASSIGN}


async def test_without_a_draft_everything_but_approval_is_allowed(desk: Desk, ledger: Ledger) -> None:
    case = await desk.case(await add_pending(ledger, post(1), "", origin=Origin.NONE))
    assert allowed(case, ANA) == {
        Action.CLAIM, Action.EDIT, Action.REJECT, Action.DISMISS, Action.REDRAFT, Action.ASSIGN,
    }  # fmt: skip


async def test_a_failed_case_may_be_drafted_again_once_it_has_evidence(desk: Desk, ledger: Ledger) -> None:
    key = await in_state(ledger, desk, CaseState.GROUNDED)
    await ledger.stages.fail(key, StageName.DRAFT, "the model is away")
    assert allowed(await desk.case(key), ANA) == {Action.REDRAFT}


async def test_undoing_is_for_who_decided_and_leads_and_has_its_time(desk: Desk, ledger: Ledger) -> None:
    case = await ask(desk, await pending(ledger), Action.APPROVE, ANA)
    assert undoable(case)
    assert [allowed(case, who) for who in (ANA, BEN, LEA)] == [{Action.UNDO}, frozenset(), {Action.UNDO}]
    over = case.model_copy(update={"release_at": now()})
    assert not undoable(over)
    assert allowed(over, ANA) == frozenset()


async def test_a_claim_that_ran_out_holds_nobody_up(ledger: Ledger, guard: Guard) -> None:
    desk = Desk(ledger, guard, DeskSettings(claim_s=0.001))
    key = await pending(ledger)
    await ask(desk, key, Action.CLAIM, BEN)
    assert (await ask(desk, key, Action.CLAIM, ANA)).claimed_by == "ana"


async def test_approving_sends_the_draft_exactly_as_it_was_shown(desk: Desk, ledger: Ledger) -> None:
    key = await pending(ledger)
    after = await ask(desk, key, Action.APPROVE, text=DRAFT)
    assert (after.final_text, after.decided_by) == (DRAFT, "ana")
    assert after.release_at is not None
    assert timedelta(seconds=15) < after.release_at - now() <= timedelta(seconds=20)


async def test_approving_another_text_than_the_draft_is_refused(desk: Desk, ledger: Ledger) -> None:
    key = await pending(ledger)
    with pytest.raises(BadInput, match="use edit"):
        await ask(desk, key, Action.APPROVE, text=DRAFT + " ")
    assert (await desk.case(key)).state is CaseState.PENDING


async def test_approving_takes_the_newest_draft(desk: Desk, ledger: Ledger) -> None:
    key = await pending(ledger)
    await ask(desk, key, Action.REDRAFT)
    await add_draft(ledger, key, 2, "Another draft. It is the newest.")
    assert (await ask(desk, key, Action.APPROVE)).final_text == "Another draft. It is the newest."


async def test_a_case_without_a_draft_needs_a_text_of_ones_own(desk: Desk, ledger: Ledger) -> None:
    key = await add_pending(ledger, post(1), origin=Origin.NONE, note="nothing fits")
    with pytest.raises(BadInput, match="write the reply yourself"):
        await ask(desk, key, Action.APPROVE)
    assert (await ask(desk, key, Action.EDIT, text="My own words. They are two.")).state is CaseState.APPROVED


async def test_a_draft_that_fails_a_check_is_not_approved_by_a_reviewer(desk: Desk, ledger: Ledger) -> None:
    failing = CHECKS[0].model_copy(update={"passed": False})
    key = await add_pending(ledger, post(1), checks=(failing,))
    with pytest.raises(FailsChecks, match="sentences"):
        await ask(desk, key, Action.APPROVE)
    assert (await ask(desk, key, Action.APPROVE, LEA, override=True)).state is CaseState.APPROVED


async def test_a_draft_that_claims_to_have_passed_is_checked_again(ledger: Ledger, desk: Desk) -> None:
    key = await add_pending(ledger, post(1), checks=())
    await ask(desk, key, Action.REDRAFT)
    await add_draft(ledger, key, 2, "This is forbidden. It is.", checks=())
    with pytest.raises(FailsChecks, match="insult"):
        await ask(desk, key, Action.APPROVE)


async def test_what_the_guard_outweighed_needs_no_override_unless_the_text_is_changed(ledger: Ledger) -> None:
    desk = Desk(ledger, open_guard(Settings()), DeskSettings())
    text = "It is proved that neighbours are all alike. Please think it over."
    doubted = Check(name="overclaim", passed=False, value=1, threshold=0, hard=False)
    overall = Check(name="overall", passed=True, value=0.8, threshold=0.6)
    alone = await add_pending(ledger, post(1), text, checks=(doubted,))
    with pytest.raises(FailsChecks, match="overclaim"):
        await ask(desk, alone, Action.APPROVE)
    weighed = await add_pending(ledger, post(2), text, checks=(doubted, overall))
    with pytest.raises(FailsChecks, match="overclaim"):
        await ask(desk, weighed, Action.EDIT, text=f"{text[:-1]} twice.")
    assert failed(await desk.check(weighed, text)) == ()
    assert failed(await desk.check(weighed, f"{text[:-1]} twice."))
    assert (await ask(desk, weighed, Action.APPROVE)).final_text == text


@pytest.mark.parametrize(("who", "override", "outcome"), [
    (ANA, False, FailsChecks), (ANA, True, Forbidden), (LEA, False, FailsChecks), (LEA, True, None), (ADA, True, None),
])  # fmt: skip
async def test_a_text_that_fails_checks_leaves_only_by_a_leads_override(
    desk: Desk, ledger: Ledger, who: Moderator, override: bool, outcome: type[RejoinderError] | None
) -> None:
    key = await pending(ledger)
    if outcome is None:
        after = await ask(desk, key, Action.EDIT, who, text="This is forbidden. It is.", override=override)
        assert after.final_text == "This is forbidden. It is."
        assert "checks overridden" in (await desk.history(key))[-1].why
        return
    with pytest.raises(outcome):
        await ask(desk, key, Action.EDIT, who, text="This is forbidden. It is.", override=override)
    assert (await desk.case(key)).state is CaseState.PENDING


async def test_an_override_of_a_claim_alone_overrides_no_check(desk: Desk, ledger: Ledger) -> None:
    approved, edited = await pending(ledger, 1), await pending(ledger, 2)
    for key in (approved, edited):
        await ask(desk, key, Action.CLAIM, BEN)
    await ask(desk, approved, Action.APPROVE, LEA, override=True)
    await ask(desk, edited, Action.EDIT, LEA, text="My own words. They are two.", override=True)
    assert [(await desk.history(key))[-1].why for key in (approved, edited)] == ["approved draft 1", "edited"]


async def test_a_refused_approval_names_each_check_once_as_it_is_now(desk: Desk, ledger: Ledger) -> None:
    text, told = "This is forbidden. It is.", Check(name="insult", passed=True, value=0, threshold=0)
    failing = Check(name="length", passed=False, value=900, threshold=500)
    key = await add_pending(ledger, post(1), text, checks=(CHECKS[0], told, failing))
    with pytest.raises(FailsChecks) as refused:
        await ask(desk, key, Action.APPROVE)
    checks = refused.value.checks
    assert [check.name for check in checks] == ["sentences", "insult", "length"]
    assert [check.passed for check in checks] == [True, False, False]
    assert checks[1].detail == "a word"


@pytest.mark.parametrize("text", ["Turn \u202eback. Now.", "Wo\u200brds. Two.", "\u2066One. Two.", "A\u00ad b. C."])
async def test_no_override_sends_what_cannot_be_seen(desk: Desk, ledger: Ledger, text: str) -> None:
    key = await pending(ledger)
    with pytest.raises(BadInput, match=r"U\+"):
        await ask(desk, key, Action.EDIT, ADA, text=text, override=True)
    assert (await desk.case(key)).state is CaseState.PENDING
    shown = "می\u200cروم 👩\u200d👩\u200d👧. Two."
    assert (await ask(desk, key, Action.EDIT, ADA, text=shown, override=True)).final_text == shown


async def test_the_real_guard_judges_what_a_moderator_writes(ledger: Ledger) -> None:
    desk = Desk(ledger, open_guard(Settings()), DeskSettings())
    key = await pending(ledger)
    with pytest.raises(FailsChecks, match="links"):
        await ask(desk, key, Action.EDIT, text="Look at https://zorblax.example for more. It says all there is to say.")


async def test_failed_checks_come_with_all_their_values(desk: Desk, ledger: Ledger) -> None:
    key = await pending(ledger)
    with pytest.raises(FailsChecks) as refused:
        await ask(desk, key, Action.EDIT, text="forbidden")
    assert [check.name for check in refused.value.checks] == ["insult", "length"]
    assert refused.value.checks == await desk.check(key, "forbidden")


@pytest.mark.parametrize("text", [None, "", "  \n "])
async def test_an_empty_edit_is_refused(desk: Desk, ledger: Ledger, text: str | None) -> None:
    key = await pending(ledger)
    with pytest.raises(BadInput, match="empty"):
        await ask(desk, key, Action.EDIT, text=text)


@pytest.mark.parametrize("reason", [None, "", "  ", "other", "other:  "])
async def test_a_rejection_needs_a_reason(desk: Desk, ledger: Ledger, reason: str | None) -> None:
    key = await pending(ledger)
    with pytest.raises(BadInput, match="reason"):
        await ask(desk, key, Action.REJECT, reason=reason)


@pytest.mark.parametrize(("given", "stored"), [
    ("tone", "tone"), ("tone: too sharp", "tone: too sharp"), ("I don't like it", "other: I don't like it"),
    ("other: see chat", "other: see chat"),
])  # fmt: skip
async def test_a_reason_is_kept_in_the_history(desk: Desk, ledger: Ledger, given: str, stored: str) -> None:
    key = await pending(ledger)
    assert (await ask(desk, key, Action.REJECT, reason=given)).decided_why == stored
    assert (await desk.history(key))[-1].why == stored


@pytest.mark.parametrize(("given", "stored"), [
    (None, "not_hateful"), ("not_hateful: it quotes them", "not_hateful: it quotes them"), ("a joke", "other: a joke"),
])  # fmt: skip
async def test_a_dismissal_says_not_hateful_unless_told_otherwise(
    desk: Desk, ledger: Ledger, given: str | None, stored: str
) -> None:
    key = await add_doubtful(ledger, post(1))
    after = await ask(desk, key, Action.DISMISS, reason=given)
    assert (after.state, after.decided_by, after.decided_why) == (CaseState.DISMISSED, "ana", stored)
    assert undoable(after) and standing(after) == "ana dismissed it as not hateful."


async def test_a_decision_on_an_old_version_names_who_was_faster(desk: Desk, ledger: Ledger) -> None:
    key = await pending(ledger)
    version = (await desk.case(key)).version
    await ask(desk, key, Action.APPROVE, BEN)
    with pytest.raises(StaleVersion, match="ben approved it") as refused:
        await desk.decide(key, Decision(action=Action.REJECT, version=version, reason="tone"), ANA)
    assert refused.value.case is not None
    assert refused.value.case.decided_by == "ben"


@pytest.mark.parametrize("action", [Action.APPROVE, Action.REJECT, Action.DISMISS])
async def test_who_decided_can_take_it_back_and_so_can_a_lead_but_nobody_else(
    desk: Desk, ledger: Ledger, action: Action
) -> None:
    key = await pending(ledger)
    for undoer in (ANA, LEA):
        await ask(desk, key, action, ANA, **ASKS[action])
        with pytest.raises(Forbidden, match="only ana or a lead"):
            await ask(desk, key, Action.UNDO, BEN)
        after = await ask(desk, key, Action.UNDO, undoer)
        assert (after.state, after.final_text) == (CaseState.PENDING, None)


async def test_what_has_left_is_not_undone(ledger: Ledger, guard: Guard) -> None:
    desk = Desk(ledger, guard, DeskSettings(undo_s=0))
    key = await pending(ledger)
    await ask(desk, key, Action.APPROVE)
    assert await ledger.outbox.lease("test", 30, 10)
    with pytest.raises(NotAllowed):
        await ask(desk, key, Action.UNDO)


async def test_an_unknown_case_is_said_to_be_unknown(desk: Desk) -> None:
    with pytest.raises(CaseNotFound):
        await desk.decide("forum/nowhere", Decision(action=Action.CLAIM, version=1), ANA)


async def test_the_queue_is_narrowed_to_what_one_holds(desk: Desk, ledger: Ledger) -> None:
    first, second = await pending(ledger, 1), await pending(ledger, 2)
    await ask(desk, second, Action.CLAIM, BEN)
    assert [case.key for case in (await desk.queue(CaseQuery())).cases] == [first, second]
    assert [case.key for case in (await desk.queue(CaseQuery(claimed_by="ben"))).cases] == [second]
    with pytest.raises(BadInput, match="limit"):
        await desk.queue(CaseQuery(limit=0))
    assert (await desk.counts())[CaseState.PENDING] == 2


@pytest.mark.parametrize("shared", ["author_id", "thread_id"])
async def test_a_text_that_author_or_thread_got_meanwhile_is_not_approved_without_a_lead(
    desk: Desk, ledger: Ledger, shared: str
) -> None:
    first, second, other = [
        await add_pending(ledger, post(number).model_copy(update={shared: name}))
        for number, name in ((1, "zed"), (2, "zed"), (3, "ann"))
    ]
    await ask(desk, first, Action.APPROVE)
    with pytest.raises(FailsChecks, match="repeat"):
        await ask(desk, second, Action.APPROVE)
    assert (await ask(desk, other, Action.APPROVE)).state is CaseState.APPROVED
    assert (await ask(desk, second, Action.APPROVE, LEA, override=True)).state is CaseState.APPROVED
