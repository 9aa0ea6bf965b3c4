from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from core.contract import Outcome
from core.domain import CaseState, DraftRequest, Route, StrategyName
from core.errors import CaseNotFound
from core.lifecycle import StageName
from ledger import Ledger, Step


async def test_receive_counts_only_new_posts_and_leaves_known_ones(ledger: Ledger, make: Any) -> None:
    assert await ledger.stages.receive([]) == 0
    assert await ledger.stages.receive([make.post(1), make.post(2), make.post(1)]) == 2
    await ledger.stages.triage(make.post(1), make.triage())
    assert await ledger.stages.receive([make.post(3), make.post(1, text="changed since")]) == 1
    case = await ledger.cases.get("forum/1")
    assert (case.state, case.post.text) == (CaseState.TRIAGED, "Zorblaxians ruin everything.")
    assert len(await ledger.history.of("forum/1")) == 2


async def test_a_thousand_posts_are_received_at_once(ledger: Ledger, make: Any) -> None:
    assert await ledger.stages.receive([make.post(number) for number in range(1000)]) == 1000
    assert (await ledger.cases.counts())[CaseState.RECEIVED] == 1000


async def test_overlapping_batches_received_at_once_add_each_post_once(ledger: Ledger, make: Any) -> None:
    posts = [make.post(number) for number in range(40)]
    batches = [posts[start:] + posts[:start] for start in range(0, 40, 5)]
    assert sum(await asyncio.gather(*map(ledger.stages.receive, batches))) == 40


async def test_triage_records_a_post_the_ledger_has_not_seen(ledger: Ledger, make: Any) -> None:
    assert await ledger.stages.triage(make.post(), make.triage()) is Step.MOVED
    assert [row.to_state for row in await ledger.history.of("forum/1")] == [CaseState.RECEIVED, CaseState.TRIAGED]


async def test_the_same_message_worked_on_twice_at_once_moves_the_case_once(ledger: Ledger, make: Any) -> None:
    post, triage = make.post(), make.triage()
    steps = await asyncio.gather(*(ledger.stages.triage(post, triage) for _ in range(6)))
    assert sorted(step.name for step in steps) == ["AGAIN"] * 5 + ["MOVED"]


@pytest.mark.parametrize("route", [Route.DISMISS, Route.ESCALATE])
async def test_a_case_that_triage_ends_owes_its_outcome(ledger: Ledger, make: Any, route: Route) -> None:
    await ledger.stages.triage(make.post(), make.triage(route))
    await ledger.stages.triage(make.post(), make.triage(route))
    (row,) = await ledger.outbox.lease("p", 30, 10)
    outcome = Outcome.model_validate_json(row.value)
    state = CaseState.DISMISSED if route is Route.DISMISS else CaseState.ESCALATED
    assert (outcome.state, outcome.who, outcome.why) == (state, "machine", "it blames a group")
    assert (row.topic, row.key, row.headers) == ("outcomes", "forum/1", {"idempotency-key": "outcome:forum/1:2"})


async def test_stages_of_an_unknown_case(ledger: Ledger, make: Any) -> None:
    with pytest.raises(CaseNotFound, match="forum/1"):
        await ledger.stages.ground("forum/1", make.grounding(), DraftRequest())
    with pytest.raises(CaseNotFound, match="forum/1"):
        await ledger.stages.draft(make.draft("forum/1"))
    with pytest.raises(CaseNotFound, match="forum/1"):
        await ledger.stages.revive("forum/1", CaseState.RECEIVED)
    assert await ledger.stages.fail("forum/1", StageName.TRIAGE, "it broke") is False


async def test_what_the_stages_found_is_read_back_as_it_was(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    assert case.post == make.post()
    assert (case.triage, case.grounding, case.drafts) == (make.triage(), make.grounding(), (make.draft(case.key),))


async def test_a_draft_for_an_older_request_is_dropped(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    await ledger.decisions.redraft(case.key, case.version, "ana", DraftRequest(number=2, hint="shorter"), "message")
    assert await ledger.stages.draft(make.draft(case.key, 1)) is Step.LATE
    assert await ledger.stages.ground(case.key, make.grounding(), DraftRequest()) is Step.LATE
    assert await ledger.stages.draft(make.draft(case.key, 2)) is Step.MOVED
    assert await ledger.stages.draft(make.draft(case.key, 1)) is Step.LATE
    assert [draft.number for draft in (await ledger.cases.get(case.key)).drafts] == [1, 2]


async def test_evidence_for_an_older_request_leaves_a_redraft_as_it_was_asked_for(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    asked = DraftRequest(number=2, hint="kinder", strategy=StrategyName.FREE)
    await ledger.decisions.redraft(case.key, case.version, "ana", asked, "message", to=CaseState.TRIAGED)
    assert await ledger.stages.ground(case.key, make.grounding(), case.request) is Step.LATE
    waiting = await ledger.cases.get(case.key)
    assert (waiting.state, waiting.request) == (CaseState.TRIAGED, asked)
    assert await ledger.stages.ground(case.key, make.grounding(), asked) is Step.MOVED


async def test_a_failure_of_an_older_draft_leaves_a_case_that_waits_for_another(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.PENDING)
    await ledger.decisions.redraft(case.key, case.version, "ana", DraftRequest(number=2), "message")
    assert await ledger.stages.fail(case.key, StageName.DRAFT, "the model is away", number=1) is False
    assert (await ledger.cases.get(case.key)).state is CaseState.GROUNDED
    assert await ledger.stages.fail(case.key, StageName.DRAFT, "the model is away", number=2) is True


async def test_two_drafts_for_one_request_leave_one(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.GROUNDED)
    drafts = [make.draft(case.key, text=f"Draft {number}. Really.") for number in range(6)]
    steps = await asyncio.gather(*map(ledger.stages.draft, drafts))
    assert sorted(step.name for step in steps) == ["AGAIN"] * 5 + ["MOVED"]
    assert len((await ledger.cases.get(case.key)).drafts) == 1


async def test_a_case_that_failed_on_the_desk_takes_its_draft_when_it_comes_again(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.GROUNDED)
    await ledger.stages.fail(case.key, StageName.DESK, "it broke")
    await ledger.stages.revive(case.key, CaseState.GROUNDED)
    assert await ledger.stages.draft(make.draft(case.key)) is Step.MOVED
    assert (await ledger.cases.get(case.key)).drafts == (make.draft(case.key),)


async def test_a_failure_is_kept_with_the_case_cut_and_published(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.GROUNDED)
    assert await ledger.stages.fail(case.key, StageName.DRAFT, "bad\0 bytes" + "x" * 10_000)
    failed = await ledger.cases.get(case.key)
    assert failed.error is not None
    assert failed.error.startswith("bad bytes")
    assert len(failed.error) == 2_000
    (row,) = await ledger.outbox.lease("p", 30, 10)
    assert json.loads(row.value)["state"] == "failed"


async def test_a_revived_case_takes_back_a_failure_not_yet_published(ledger: Ledger, make: Any) -> None:
    case = await make.bring(ledger, CaseState.FAILED)
    assert (await ledger.outbox.backlog()).rows == 1
    await ledger.stages.revive(case.key, CaseState.GROUNDED)
    assert (await ledger.outbox.backlog()).rows == 0
    assert (await ledger.cases.get(case.key)).error is None


async def test_reviving_a_case_that_did_not_fail_takes_nothing_back(ledger: Ledger, make: Any, clock: Any) -> None:
    case = await make.bring(ledger, CaseState.APPROVED)
    assert await ledger.stages.revive(case.key, CaseState.GROUNDED) is Step.LATE
    clock.pass_s(60)
    assert len(await ledger.outbox.lease("p", 30, 10)) == 1


async def test_only_the_later_of_two_equal_posts_is_a_duplicate(ledger: Ledger, make: Any, clock: Any) -> None:
    first = make.post(1, author_id="u1", text="They ruin  EVERYTHING")
    second = make.post(2, author_id="u1", text=" they ruin\neverything ")
    assert (await ledger.stages.on_file(first)).duplicate_of is None
    await ledger.stages.receive([first])
    assert (await ledger.stages.on_file(second)).duplicate_of == first.key
    clock.pass_s(1)
    await ledger.stages.receive([second])
    assert (await ledger.stages.on_file(second)).duplicate_of == first.key
    assert (await ledger.stages.on_file(first)).duplicate_of is None


async def test_equal_posts_of_one_batch_name_one_original(ledger: Ledger, make: Any) -> None:
    posts = [make.post(number, author_id="u1") for number in (3, 1, 2)]
    await ledger.stages.receive(posts)
    assert [(await ledger.stages.on_file(post)).duplicate_of for post in posts] == ["forum/1", None, "forum/1"]


async def test_other_authors_platforms_and_texts_are_no_duplicates(ledger: Ledger, make: Any) -> None:
    await ledger.stages.receive([make.post(1, author_id="u1"), make.post(2)])
    others = [{"author_id": "u2"}, {"author_id": "u1", "platform": "chat"}, {"author_id": "u1", "text": "other"}, {}]
    assert [
        (await ledger.stages.on_file(make.post(9 + number, **fields))).duplicate_of
        for number, fields in enumerate(others)
    ] == [None] * 4
