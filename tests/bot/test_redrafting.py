"""Another draft: what is asked for, and what is not lost by asking."""

from __future__ import annotations

import json

import pytest

from bot.desk import CaseQuery, Desk
from core.domain import Action, CaseState, DraftRequest, Intent
from core.errors import BadInput
from ledger import Ledger
from tests.bot.asking import ask, pending
from tests.bot.samples import DRAFT, add_doubtful, add_draft, add_pending, post, triage_of
from tests.factories import make_grounding


async def test_a_case_in_doubt_waits_for_its_first_draft_until_somebody_asks(desk: Desk, ledger: Ledger) -> None:
    key = await add_doubtful(ledger, post(1))
    await pending(ledger, 2)
    assert [case.key for case in (await desk.queue(CaseQuery(doubtful=True))).cases] == [key]
    assert await desk.count_doubtful() == 1
    waiting = await ask(desk, key, Action.REDRAFT)
    assert (waiting.state, waiting.request, waiting.doubtful) == (CaseState.GROUNDED, DraftRequest(number=2), False)
    await add_draft(ledger, key, 2, DRAFT)
    assert not (await desk.case(key)).doubtful
    assert await desk.count_doubtful() == 0


async def test_a_redraft_asks_for_something_unlike_all_that_was_said(desk: Desk, ledger: Ledger) -> None:
    flagged = post(1).model_copy(update={"context": ("an earlier reply",)})
    key = await add_pending(ledger, flagged)
    after = await ask(desk, key, Action.REDRAFT, intent="positive", hint="mention school")
    assert after.request == DraftRequest(number=2, intent=Intent.POSITIVE, hint="mention school", avoid=(DRAFT,)), (
        "the thread is in the post's context"
    )
    await add_draft(ledger, key, 2, "Second draft. It is here.", intent=Intent.POSITIVE)
    third = (await ask(desk, key, Action.REDRAFT)).request
    assert (third.number, third.intent) == (3, Intent.POSITIVE)
    assert third.avoid == (DRAFT, "Second draft. It is here.")


async def test_a_case_of_an_older_version_repeats_the_thread_no_more(desk: Desk, ledger: Ledger) -> None:
    flagged = post(1).model_copy(update={"context": ("an earlier reply",)})
    await ledger.stages.triage(flagged, triage_of())
    await ledger.stages.ground(
        flagged.key, make_grounding(), DraftRequest(avoid=("an earlier reply", "a draft before"))
    )
    await add_draft(ledger, flagged.key, 1, DRAFT)
    assert (await ask(desk, flagged.key, Action.REDRAFT)).request.avoid == ("a draft before", DRAFT)


async def test_a_case_too_large_for_another_draft_keeps_the_one_it_has(desk: Desk, ledger: Ledger) -> None:
    """Version 0.1.0 took flags of up to a megabyte; a stage would take this one no more, and the case would fail."""
    key = await add_pending(ledger, post(1).model_copy(update={"context": ("x" * 20_000,) * 20}))
    with pytest.raises(BadInput, match="300,000 bytes"):
        await ask(desk, key, Action.REDRAFT)
    assert (await ask(desk, key, Action.APPROVE)).state is CaseState.APPROVED


async def test_a_redraft_leaves_as_the_grounded_message(desk: Desk, ledger: Ledger) -> None:
    key = await pending(ledger)
    await ask(desk, key, Action.REDRAFT, intent="denouncing")
    rows = await ledger.outbox.lease("test", 30, 10)
    (message,) = [json.loads(row.value) for row in rows if row.topic == "grounded"]
    assert set(message) == {"post", "triage", "grounding", "request"}
    assert message["request"]["intent"] == "denouncing"
