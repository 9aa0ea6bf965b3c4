"""A redraft with another strategy goes back to be planned and grounded, and comes back as the next draft."""

from __future__ import annotations

import pytest

from bot.desk import Desk
from bot.permissions import Moderator, allowed
from core.domain import (
    Action,
    CaseState,
    Decision,
    Draft,
    DraftRequest,
    FlaggedPost,
    Grounding,
    Intent,
    Plan,
    Route,
    StrategyName,
    Triage,
    now,
)  # fmt: skip
from core.errors import BadInput
from core.lifecycle import TopicRole
from core.settings import DeskSettings, Settings
from ledger import Ledger
from rejoinder.guard_assembly import open_guard
from stream.messages import Grounded, Triaged, encode
from stream.stages import GroundStage
from stream.sweeper import due_message
from tests.factories import make_draft, make_grounding, make_post, make_triage

ANA = Moderator("ana", "reviewer")


class Grounder:
    """A finder of one statement that plans as it is told."""

    async def ground(
        self, post: FlaggedPost, triage: Triage, *, strategy: StrategyName | None = None, last_attempt: bool = False
    ) -> Grounding:
        return make_grounding().model_copy(update={"plan": Plan(strategy=strategy or "compose")})


@pytest.fixture
async def desk(ledger: Ledger) -> Desk:
    choices = (StrategyName.COMPOSE, StrategyName.PLAIN)
    return Desk(ledger, open_guard(Settings()), DeskSettings(), choices)


@pytest.fixture
async def key(ledger: Ledger) -> str:
    """Give a case that waits with its first, composed draft."""
    post, triage = make_post(), make_triage()
    await ledger.stages.receive([post])
    await ledger.stages.triage(post, triage)
    planned = make_grounding().model_copy(update={"plan": Plan(strategy="compose")})
    await ledger.stages.ground(post.key, planned, DraftRequest())
    await ledger.stages.draft(make_draft(post.key))
    return post.key


def redraft(version: int, strategy: StrategyName | None) -> Decision:
    return Decision(action=Action.REDRAFT, version=version, strategy=strategy, intent=Intent.POSITIVE, hint="briefly")


async def test_another_way_is_planned_and_grounded_anew(desk: Desk, ledger: Ledger, key: str) -> None:
    case = await desk.case(key)
    sent_back = await desk.decide(key, redraft(case.version, StrategyName.PLAIN), ANA)
    assert sent_back.state is CaseState.TRIAGED
    (message,) = await ledger.outbox.lease("here", 30.0, 10)
    assert message.topic is TopicRole.TRIAGED
    stage = GroundStage(ledger, Grounder(), Intent.INFORMATIVE)
    outgoing = await stage.handle(message.value.encode())
    assert outgoing is not None
    after = await desk.case(key)
    assert after.grounding
    assert (after.state, after.grounding.plan.strategy) == (CaseState.GROUNDED, "plain")
    wanted = after.request
    assert (wanted.number, wanted.intent, wanted.hint) == (2, Intent.POSITIVE, "briefly")
    assert await stage.handle(message.value.encode()) is not None, "a redelivery is sent on again"
    await ledger.stages.draft(Draft.model_validate(make_draft(key, 2)))
    assert await stage.handle(encode(Triaged(post=case.post, triage=make_triage()))) is None, "and a late one is not"


async def test_a_claimed_case_can_be_released_while_it_waits_for_its_search(desk: Desk, key: str) -> None:
    case = await desk.case(key)
    claimed = await desk.decide(key, Decision(action=Action.CLAIM, version=case.version), ANA)
    waiting = await desk.decide(key, redraft(claimed.version, StrategyName.PLAIN), ANA)
    assert (waiting.state, waiting.claimed_by) == (CaseState.TRIAGED, "ana")
    assert Action.RELEASE in allowed(waiting, ANA)
    released = await desk.decide(key, Decision(action=Action.RELEASE, version=waiting.version), ANA)
    assert (released.state, released.claimed_by) == (CaseState.TRIAGED, None)


async def test_the_way_it_was_planned_needs_no_new_search(desk: Desk, key: str) -> None:
    case = await desk.case(key)
    assert (await desk.decide(key, redraft(case.version, StrategyName.COMPOSE), ANA)).state is CaseState.GROUNDED


async def test_a_way_that_is_not_offered_is_refused(desk: Desk, key: str) -> None:
    case = await desk.case(key)
    with pytest.raises(BadInput, match="tournament is not offered here; choose one of compose, plain"):
        await desk.decide(key, redraft(case.version, StrategyName.TOURNAMENT), ANA)


async def test_the_sweeper_sends_a_case_that_waits_for_its_search_to_ground(desk: Desk, key: str) -> None:
    case = await desk.case(key)
    await desk.decide(key, redraft(case.version, StrategyName.PLAIN), ANA)
    stage, record = due_message(await desk.case(key))
    assert (stage, type(record)) == ("ground", Triaged)


@pytest.mark.parametrize(("asked", "wanted"), [(None, Intent.DENOUNCING), (Intent.POSITIVE, Intent.POSITIVE)])
async def test_a_case_that_triage_ended_is_reopened_with_what_is_asked_for(
    desk: Desk, ledger: Ledger, asked: Intent | None, wanted: Intent
) -> None:
    """An intent that nobody asked for is chosen when its evidence is found, as for every first draft."""
    escalated = make_post("escalated")
    await ledger.stages.triage(escalated, make_triage(route=Route.ESCALATE))
    decision = Decision(
        action=Action.REOPEN, version=2, strategy=StrategyName.PLAIN, intent=asked, hint="briefly"
    )  # fmt: skip
    assert (await desk.decide(escalated.key, decision, ANA)).state is CaseState.TRIAGED
    (message,) = [row for row in await ledger.outbox.lease("here", 30.0, 10) if row.topic is TopicRole.TRIAGED]
    outgoing = await GroundStage(ledger, Grounder(), Intent.DENOUNCING).handle(message.value.encode())
    assert outgoing is not None and isinstance(outgoing.record, Grounded)
    request = outgoing.record.request
    assert (request.intent, request.hint, request.strategy) == (wanted, "briefly", "plain")
    assert outgoing.record.grounding.plan.strategy == "plain"
    assert (await desk.case(escalated.key)).request == request


async def test_a_rejected_case_is_reopened_with_another_way(desk: Desk, ledger: Ledger, key: str) -> None:
    case = await desk.case(key)
    case = await ledger.decisions.reject(key, case.version, "ana", "tone", now())
    reopen = redraft(case.version, StrategyName.PLAIN).model_copy(update={"action": Action.REOPEN})
    with pytest.raises(BadInput, match="free is not offered here"):
        await desk.decide(key, reopen.model_copy(update={"strategy": StrategyName.FREE}), ANA)
    reopened = await desk.decide(key, reopen, ANA)
    assert (reopened.state, reopened.request.strategy) == (CaseState.TRIAGED, "plain")
