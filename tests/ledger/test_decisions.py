from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from core.contract import Outcome
from core.domain import Case, CaseState, DraftRequest, Intent
from core.errors import BadInput, CaseNotFound, ClaimedByOther, NotAllowed, StaleVersion
from ledger import Ledger

TEXT = "Zorblaxians pay taxes, too. The census of 2024 shows it."


async def test_an_approval_owes_the_reply_exactly_as_approved(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    due = clock() + timedelta(seconds=15)
    approved = await ledger.decisions.approve(case.key, case.version, "ana", TEXT, "fits", due)
    assert (approved.state, approved.final_text, approved.release_at) == (CaseState.APPROVED, TEXT, due)
    assert (approved.decided_by, approved.decided_why) == ("ana", "fits")
    clock.pass_s(14)
    assert await ledger.outbox.lease("p", 30, 10) == []
    clock.pass_s(1)
    (row,) = await ledger.outbox.lease("p", 30, 10)
    assert (row.topic, row.key, row.headers) == ("replies", case.key, {"idempotency-key": "reply:forum/1"})
    assert json.loads(row.value) == {
        "schema_version": 1, "case_key": "forum/1", "platform": "forum", "post_id": "1", "text": TEXT,
        "approved_by": "ana", "approved_at": "2026-11-01T12:00:00+00:00", "draft_number": 1, "edited": True,
    }  # fmt: skip


async def test_a_draft_approved_as_it_stands_is_not_edited(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    await ledger.decisions.approve(case.key, case.version, "ana", case.drafts[0].text, "", clock())
    (row,) = await ledger.outbox.lease("p", 30, 10)
    assert json.loads(row.value)["edited"] is False


@pytest.mark.parametrize("text", ["", " \n", "a NUL\0. Here.", "half a pair \ud83d. Here."])
async def test_a_text_that_can_not_be_kept_exactly_is_refused(ledger: Ledger, make: Any, clock: Any, text: str) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    with pytest.raises(BadInput, match=case.key):
        await ledger.decisions.approve(case.key, case.version, "ana", text, "", clock())
    assert await ledger.cases.get(case.key) == case


async def test_a_rejection_is_published_when_it_is_final(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.REJECTED)
    assert (case.decided_by, case.decided_why, case.final_text) == ("ana", "off the point", None)
    assert await ledger.outbox.lease("p", 30, 10) == []
    clock.pass_s(60)
    (row,) = await ledger.outbox.lease("p", 30, 10)
    outcome = Outcome.model_validate_json(row.value)
    assert (outcome.state, outcome.who, outcome.why, outcome.text) == (CaseState.REJECTED, "ana", "off the point", None)
    assert row.headers == {"idempotency-key": "outcome:forum/1:5"}


async def test_a_dismissal_is_published_when_it_is_final_and_once(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring_in_doubt(ledger)
    minute = clock() + timedelta(minutes=1)
    first = await ledger.decisions.dismiss(case.key, case.version, "ana", "not_hateful", minute)
    undone = await ledger.decisions.undo(case.key, first.version, "ana")
    assert undone.doubtful and undone.decided_by is None
    await ledger.decisions.dismiss(case.key, undone.version, "bo", "not_hateful", minute)
    assert await ledger.outbox.lease("p", 30, 10) == []
    clock.pass_s(60)
    (row,) = await ledger.outbox.lease("p", 30, 10)
    outcome = Outcome.model_validate_json(row.value)
    assert (outcome.state, outcome.who, outcome.why) == (CaseState.DISMISSED, "bo", "not_hateful")
    with pytest.raises(NotAllowed, match="the time to undo that is over"):
        await ledger.decisions.undo(case.key, undone.version + 1, "bo")


async def test_what_triage_dismissed_is_nobodys_to_undo(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.DISMISSED)
    with pytest.raises(NotAllowed, match="dismissed by triage"):
        await ledger.decisions.undo(case.key, case.version, "ana")
    (row,) = await ledger.outbox.lease("p", 30, 10)
    assert row.topic == "outcomes"


async def test_a_redraft_sends_the_given_message_at_once(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    request = DraftRequest(number=2, intent=Intent.QUESTIONING, hint="be brief", avoid=("No.",))
    grounded = await ledger.decisions.redraft(case.key, case.version, "ana", request, '{"any": "thing"}')
    assert (grounded.state, grounded.request) == (CaseState.GROUNDED, request)
    (row,) = await ledger.outbox.lease("p", 30, 10)
    assert (row.topic, row.key, row.value, row.headers) == ("grounded", case.key, '{"any": "thing"}', {})


async def test_a_redraft_needs_a_number_of_its_own(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    with pytest.raises(BadInput, match="higher number"):
        await ledger.decisions.redraft(case.key, case.version, "ana", DraftRequest(number=1), "message")
    assert await ledger.cases.get(case.key) == case


async def test_a_failed_case_sent_for_a_redraft_publishes_no_failure(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.FAILED)
    after = await ledger.decisions.redraft(case.key, case.version, "ana", DraftRequest(number=2), "message")
    assert after.error is None
    assert [row.topic for row in await ledger.outbox.lease("p", 30, 10)] == ["grounded"]


@pytest.mark.parametrize("state", [CaseState.APPROVED, CaseState.REJECTED])
async def test_undo_leaves_no_trace_of_the_decision_but_in_the_history(
    ledger: Ledger, make: Any, clock: Any, state: CaseState
) -> None:
    case = await make.bring(ledger, state)
    after = await ledger.decisions.undo(case.key, case.version, "bo")
    assert after.state is CaseState.PENDING
    assert (after.decided_by, after.decided_why, after.final_text, after.release_at) == (None, None, None, None)
    clock.pass_s(3600)
    assert await ledger.outbox.lease("p", 30, 10) == []
    last = (await ledger.history.of(case.key))[-1]
    assert (last.from_state, last.to_state, last.who, last.why) == (state, CaseState.PENDING, "bo", "undone")
    with pytest.raises(StaleVersion, match="taken back by bo 60 min ago"):
        await ledger.decisions.undo(case.key, case.version, "ana")


async def test_a_case_approved_again_after_undo_is_released_once(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.APPROVED)
    undone = await ledger.decisions.undo(case.key, case.version, "ana")
    await ledger.decisions.approve(case.key, undone.version, "bo", TEXT, "", clock())
    clock.pass_s(3600)
    (row,) = await ledger.outbox.lease("p", 30, 10)
    assert json.loads(row.value)["approved_by"] == "bo"


async def test_undo_comes_too_late_once_a_publisher_has_touched_the_reply(
    ledger: Ledger, make: Any, clock: Any
) -> None:
    case = await make.bring(ledger, CaseState.APPROVED)
    clock.pass_s(60)
    (row,) = await ledger.outbox.lease("p", 30, 10)
    with pytest.raises(NotAllowed, match="already released"):
        await ledger.decisions.undo(case.key, case.version, "ana")
    assert await ledger.outbox.retry(row, "p", "no answer", clock())
    with pytest.raises(NotAllowed, match="already released"):
        await ledger.decisions.undo(case.key, case.version, "ana")
    (row,) = await ledger.outbox.lease("p", 30, 10)
    await ledger.outbox.note_sent(row, "p")
    with pytest.raises(NotAllowed, match="already released"):
        await ledger.decisions.undo(case.key, case.version, "ana")
    assert (await ledger.cases.get(case.key)).state is CaseState.RELEASED


@pytest.mark.parametrize(("action", "state"), [("reject", "rejected"), ("dismiss", "dismissed")])
async def test_undo_of_what_was_never_to_be_released_comes_too_late_in_its_own_words(
    ledger: Ledger, make: Any, clock: Any, action: str, state: str
) -> None:
    case = await DECIDE[action](ledger, await make.bring(ledger, CaseState.PENDING), "ana", False)
    clock.pass_s(7200)
    assert await ledger.outbox.lease("p", 30, 10)
    with pytest.raises(NotAllowed, match=f"case forum/1 is {state}, and the time to undo that is over"):
        await ledger.decisions.undo(case.key, case.version, "ana")
    assert (await ledger.cases.get(case.key)).state == state


Decide = Callable[[Ledger, Case, str, bool], Awaitable[Case]]
DECIDE: dict[str, Decide] = {
    "claim": lambda ledger, case, who, force: ledger.decisions.claim(
        case.key, case.version, who, case.received_at + timedelta(hours=2), force
    ),
    "approve": lambda ledger, case, who, force: ledger.decisions.approve(
        case.key, case.version, who, TEXT, "", case.received_at + timedelta(hours=2), force
    ),
    "reject": lambda ledger, case, who, force: ledger.decisions.reject(
        case.key, case.version, who, "no", case.received_at + timedelta(hours=2), force
    ),
    "dismiss": lambda ledger, case, who, force: ledger.decisions.dismiss(
        case.key, case.version, who, "not_hateful", case.received_at + timedelta(hours=2), force
    ),
    "redraft": lambda ledger, case, who, force: ledger.decisions.redraft(
        case.key, case.version, who, DraftRequest(number=2), "message", force
    ),
    "unclaim": lambda ledger, case, who, force: ledger.decisions.unclaim(case.key, case.version, who, force),
}


async def claimed(ledger: Ledger, make: Any, name: str) -> Case:
    case: Case = await make.bring(ledger, CaseState.PENDING, make.post(name))
    return await ledger.decisions.claim(case.key, case.version, "ana", case.received_at + timedelta(seconds=90))


@pytest.mark.parametrize("action", DECIDE)
async def test_a_claim_keeps_others_out_until_it_ends_or_is_overridden(
    ledger: Ledger, make: Any, clock: Any, action: str
) -> None:
    decide = DECIDE[action]
    mine, forced, ended = [await claimed(ledger, make, name) for name in ("mine", "forced", "ended")]
    assert (mine.claimed_by, mine.claimed_until) == ("ana", clock() + timedelta(seconds=90))
    with pytest.raises(ClaimedByOther, match="claimed by ana for another 90 s") as refused:
        await decide(ledger, ended, "bo", False)
    assert refused.value.case == ended
    await decide(ledger, mine, "ana", False)
    await decide(ledger, forced, "bo", True)
    clock.pass_s(90)
    await decide(ledger, ended, "bo", False)


async def test_a_decision_ends_the_claim_and_a_redraft_keeps_it(ledger: Ledger, make: Any, clock: Any) -> None:
    for action, holder in (
        ("approve", None),
        ("reject", None),
        ("dismiss", None),
        ("unclaim", None),
        ("redraft", "ana"),
    ):
        case = await claimed(ledger, make, action)
        assert (await DECIDE[action](ledger, case, "ana", False)).claimed_by == holder


async def test_the_error_of_a_slower_moderator_says_who_was_faster(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    await ledger.decisions.approve(case.key, 4, "ana", TEXT, "", clock() + timedelta(minutes=1))
    clock.pass_s(2)
    with pytest.raises(StaleVersion) as stale:
        await ledger.decisions.reject(case.key, 4, "bo", "no", clock())
    expected = "case forum/1 was approved by ana 2 s ago (version 5, you saw 4)"
    assert str(stale.value).startswith(expected)
    assert stale.value.case is not None
    assert stale.value.case.state is CaseState.APPROVED


@pytest.mark.parametrize(
    ("action", "deed"),
    [("claim", "claimed"), ("redraft", "sent for another draft"), ("reject", "rejected"), ("dismiss", "dismissed")],
)
async def test_every_deed_has_its_word(ledger: Ledger, make: Any, action: str, deed: str) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    await DECIDE[action](ledger, case, "ana", False)
    with pytest.raises(StaleVersion, match=f"was {deed} by ana 0 s ago"):
        await DECIDE["approve"](ledger, case, "bo", False)


async def test_a_claim_given_up_while_a_redraft_is_written_is_called_that(ledger: Ledger, make: Any) -> None:
    case = await DECIDE["redraft"](ledger, await claimed(ledger, make, "1"), "ana", False)
    await DECIDE["unclaim"](ledger, case, "ana", False)
    with pytest.raises(StaleVersion, match="was unclaimed by ana 0 s ago"):
        await DECIDE["unclaim"](ledger, case, "ana", False)


async def test_decisions_on_an_unknown_case(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    unknown = case.model_copy(update={"post": make.post("unknown")})
    for decide in DECIDE.values():
        with pytest.raises(CaseNotFound, match="forum/unknown"):
            await decide(ledger, unknown, "ana", False)
