"""What has ended can be opened again, handed over, handled, retracted and appealed against."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import pytest

from bot.deciding import DecisionRules
from core.contract import Appeal, Outcome, Retraction
from core.domain import Action, CaseState, Decision, Route, now
from core.lifecycle import TopicRole
from ledger import Ledger, OutboxRow
from stream.messages import Grounded, Triaged, decode
from tests.bot.asking import LEA
from tests.bot.conftest import Client, House, Post
from tests.bot.samples import DRAFT, add_pending, post, triage_of

Bearer = Callable[[str], dict[str, str]]


async def ended_by_triage(ledger: Ledger, route: Route = Route.ESCALATE) -> str:
    flagged = post(1)
    await ledger.stages.triage(flagged, triage_of(route=route))
    return flagged.key


async def released(ledger: Ledger, who: str = "ana") -> str:
    key = await add_pending(ledger, post(1))
    await ledger.decisions.approve(key, 4, who, DRAFT, "approved draft 1", now() - timedelta(seconds=1))
    await owed(ledger)
    return key


async def owed(ledger: Ledger) -> list[OutboxRow]:
    """Return what the outbox sends now, and let it arrive."""
    rows = await ledger.outbox.lease("test", 30, 50)
    for row in rows:
        assert await ledger.outbox.note_sent(row, "test")
    return rows


async def appeal(client: Client, key: str, headers: dict[str, str], reason: str = "It was a joke.") -> tuple[int, Any]:
    async with client.post(f"/v1/cases/{key}/appeal", json={"reason": reason}, headers=headers) as response:
        return response.status, await response.json()


@pytest.mark.parametrize("route", [Route.ESCALATE, Route.DISMISS])
async def test_what_triage_ended_is_reopened_on_its_way_to_a_draft(house: House, decide: Post, route: Route) -> None:
    key = await ended_by_triage(house.ledger, route)
    status, case = await decide("ana", key, action="reopen", version=2, reason="a plain insult")
    assert (status, case["state"], case["version"], case["triage"]["route"]) == (200, "triaged", 3, "draft")
    assert (case["history"][-1]["kind"], case["history"][-1]["why"]) == ("reopen", "a plain insult")
    (row,) = await owed(house.ledger)
    assert (row.topic, decode(row.value.encode(), Triaged).triage.route) == (TopicRole.TRIAGED, Route.DRAFT)


async def test_a_dismissal_of_a_moderators_is_reopened_with_its_evidence_once_it_is_final(
    house: House, decide: Post
) -> None:
    key = await add_pending(house.ledger, post(1))
    _, dismissed = await decide("ana", key, action="dismiss", version=4)
    assert dismissed["actions"] == ["undo"]
    status, answer = await decide("ben", key, action="reopen", version=5)
    assert (status, answer["error"]) == (409, "not_allowed")
    await decide("ana", key, action="undo", version=5)
    await house.ledger.decisions.dismiss(key, 6, "ana", "not_hateful", now())
    status, case = await decide("ben", key, action="reopen", version=7, intent="denouncing")
    assert (status, case["state"], case["request"]["number"], case["decided_by"]) == (200, "grounded", 2, None)
    (row,) = await owed(house.ledger)
    assert decode(row.value.encode(), Grounded).request.intent == "denouncing"


async def test_a_case_is_handed_over_with_a_reason_and_marked_as_handled(house: House, decide: Post) -> None:
    key = await ended_by_triage(house.ledger, Route.DISMISS)
    assert (await decide("ana", key, action="hand_over", version=2))[0] == 400
    await owed(house.ledger)
    status, case = await decide("ana", key, action="hand_over", version=2, reason="to the police: a real address")
    assert (status, case["state"], case["decided_why"]) == (200, "escalated", "to the police: a real address")
    (row,) = await owed(house.ledger)
    assert Outcome.model_validate_json(row.value).state is CaseState.ESCALATED
    assert [change.to_state for change in await house.ledger.history.escalations(0, now() - timedelta(1))] == [
        "escalated"
    ]
    status, case = await decide("ben", key, action="handle", version=3, reason="reported")
    assert (status, case["state"], case["handled"], case["history"][-1]["why"]) == (200, "escalated", True, "reported")
    assert "handle" not in case["actions"]
    assert (await decide("ben", key, action="handle", version=4))[0] == 409
    assert len(await house.ledger.history.escalations(0, now() - timedelta(1))) == 1
    assert await owed(house.ledger) == []


async def test_a_released_reply_is_retracted_once_by_whom_it_concerns(house: House, decide: Post) -> None:
    key = await released(house.ledger)
    await owed(house.ledger)
    assert (await decide("ana", key, action="retract", version=6))[0] == 400
    assert (await decide("ben", key, action="retract", version=6, reason="a wrong figure"))[0] == 403
    status, case = await decide("ana", key, action="retract", version=6, reason="a wrong figure")
    assert (status, case["state"], case["version"]) == (200, "released", 7)
    assert case["retracted_at"] and "retract" not in case["actions"]
    status, again = await decide("ana", key, action="retract", version=6, reason="a wrong figure")
    assert (status, again["version"]) == (200, 7)
    (row,) = await owed(house.ledger)
    event = Retraction.model_validate_json(row.value)
    assert (row.topic, row.headers) == (TopicRole.OUTCOMES, {"idempotency-key": f"retraction:{key}"})
    assert (event.text, event.who, event.why) == (DRAFT, "ana", "a wrong figure")


async def test_appeals_come_from_the_platform_and_form_a_queue(
    client: Client, house: House, bearer: Bearer, decide: Post
) -> None:
    key = await released(house.ledger)
    await owed(house.ledger)
    status, answer = await appeal(client, key, bearer("site"))
    assert (status, answer["state"], answer["version"]) == (202, "released", 7)
    assert (await appeal(client, key, bearer("site"), "Again!"))[1]["version"] == 7
    (row,) = await owed(house.ledger)
    assert Appeal.model_validate_json(row.value).who == "site"
    assert "joke" not in row.value
    async with client.get("/v1/cases?appealed=true", headers=bearer("ana")) as response:
        page = await response.json()
    assert ([case["key"] for case in page["cases"]], page["appealed"]) == ([key], 1)
    async with client.get(f"/v1/cases/{key}", headers=bearer("ana")) as response:
        case = await response.json()
    assert (case["history"][-1]["kind"], case["history"][-1]["why"]) == ("appeal", "It was a joke.")
    assert case["actions"] == ["handle", "retract"]
    status, case = await decide("ben", key, action="handle", version=7, reason="the reply stands")
    assert (status, case["appealed"]) == (200, False)
    async with client.get("/v1/cases?appealed=true", headers=bearer("ana")) as response:
        assert (await response.json())["cases"] == []


async def test_nothing_open_can_be_appealed_against(client: Client, house: House, bearer: Bearer, decide: Post) -> None:
    key = await add_pending(house.ledger, post(1))
    assert (await appeal(client, key, bearer("site")))[0] == 409
    await decide("ana", key, action="reject", version=4, reason="tone")
    assert (await appeal(client, key, bearer("site")))[0] == 409
    assert (await appeal(client, key, bearer("site"), " "))[0] == 400
    assert (await appeal(client, "forum/nowhere", bearer("site")))[0] == 404
    assert (await appeal(client, key, {}))[0] == 401


@pytest.mark.parametrize("name", ["shop", "probe"])
async def test_only_a_cases_own_platform_and_moderators_appeal(
    client: Client, house: House, bearer: Bearer, name: str
) -> None:
    key = await released(house.ledger)
    assert (await appeal(client, key, bearer(name)))[0] == 403
    assert not (await house.desk.case(key)).appealed


async def test_an_undo_takes_no_appeal_back_and_counts_none_as_its_own(house: House) -> None:
    """The appeal's event waits beside a rejection that has left: there is nothing to undo, and the event stays owed."""
    key = await add_pending(house.ledger, post(1))
    await house.ledger.decisions.reject(key, 4, "ana", "tone", now())
    await owed(house.ledger)
    await house.ledger.casework.appeal(key, "site", "It was a joke.")
    from core.errors import NotAllowed

    with pytest.raises(NotAllowed):
        await house.ledger.decisions.undo(key, 6, "ana")
    assert len(await owed(house.ledger)) == 1


async def test_an_action_that_nobody_knows_takes_no_reply_back(house: House) -> None:
    key = await released(house.ledger)
    case = await house.desk.case(key)
    unknown = Decision.model_construct(action=cast("Action", "refund"), version=case.version, reason="a wrong figure")
    rules = DecisionRules(house.ledger, house.guard, house.settings, strategies=())
    with pytest.raises(AssertionError):
        await rules.carry_out(case, unknown, LEA)
    assert (await house.desk.case(key)).retracted_at is None
