"""What is known around a case: its author's other cases, the same text elsewhere, rules, notes, whom it was given."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from bot.desk import Desk
from core.domain import Decision
from tests.bot.conftest import Client, House, Post
from tests.bot.samples import add_pending, post

Bearer = Callable[[str], dict[str, str]]


async def get(client: Client, path: str, headers: dict[str, str]) -> Any:
    async with client.get(path, headers=headers) as response:
        assert response.status == 200
        return await response.json()


async def test_the_author_is_known_by_earlier_cases_and_by_no_name(
    client: Client, house: House, bearer: Bearer, decide: Post
) -> None:
    for number, author in ((1, "mallory"), (2, "mallory"), (3, "trent")):
        await add_pending(house.ledger, post(number).model_copy(update={"author_id": author, "text": f"No {number}."}))
    await decide("ana", "forum/post-1", action="reject", version=4, reason="tone")
    around = await get(client, "/v1/cases/forum/post-2/related", bearer("ben"))
    (earlier,) = around["author"]
    assert (earlier["key"], earlier["state"], earlier["decided_by"], earlier["decided_why"]) == (
        "forum/post-1", "rejected", "ana", "tone",
    )  # fmt: skip
    assert around["same_text"] == []
    assert "mallory" not in json.dumps(around) and "No 1" not in json.dumps(around)


async def test_the_same_text_is_found_whoever_posted_it_and_counted_in_the_list(
    client: Client, house: House, bearer: Bearer, decide: Post
) -> None:
    for number, text in ((1, "Keep them out!"), (2, "keep  them OUT!"), (3, "Keep them out!"), (4, "Let them in.")):
        await add_pending(house.ledger, post(number, text))
    await decide("ana", "forum/post-3", action="reject", version=4, reason="tone")
    page = await get(client, "/v1/cases?state=pending", bearer("ben"))
    assert {case["key"]: case["same_text"] for case in page["cases"]} == {
        "forum/post-1": 1, "forum/post-2": 1, "forum/post-4": 0,
    }  # fmt: skip
    around = await get(client, "/v1/cases/forum/post-2/related", bearer("ben"))
    assert [(case["key"], case["state"]) for case in around["same_text"]] == [
        ("forum/post-1", "pending"), ("forum/post-3", "rejected"),
    ]  # fmt: skip


async def test_a_note_reaches_everybody_and_makes_no_decision_stale_for_its_writer(
    client: Client, house: House, bearer: Bearer, decide: Post
) -> None:
    key = await add_pending(house.ledger, post(1))
    note = {"text": "The author apologised below the post."}
    async with client.post(f"/v1/cases/{key}/notes", json=note, headers=bearer("ana")) as response:
        case = await response.json()
    assert (case["version"], case["notes"][0]["text"], case["notes"][0]["who"]) == (5, note["text"], "ana")
    assert (case["history"][-1]["kind"], case["history"][-1]["why"]) == ("note", note["text"])
    (row,) = [change for change in await house.ledger.history.of(key) if change.kind]
    assert row.why == "", "what people wrote stays out of the history, from which nothing can be taken"
    status, answer = await decide("ben", key, action="reject", version=4, reason="tone")
    assert (status, answer["error"]) == (409, "stale")
    for text, status in (("  ", 400), ("a" * 2_001, 400)):
        async with client.post(f"/v1/cases/{key}/notes", json={"text": text}, headers=bearer("ana")) as response:
            assert response.status == status
    async with client.post(f"/v1/cases/{key}/notes", json=note, headers=bearer("site")) as response:
        assert response.status == 403


async def test_the_rules_of_a_platform_stand_beside_its_cases(house: House) -> None:
    settings = house.settings.model_copy(update={"platform_rules": {"forum": "No insults. No calls for violence."}})
    desk = Desk(house.ledger, house.guard, settings)
    key = await add_pending(house.ledger, post(1))
    assert (await desk.related(key)).rules == "No insults. No calls for violence."
    elsewhere = await add_pending(house.ledger, post(2).model_copy(update={"platform": "elsewhere"}))
    assert (await desk.related(elsewhere)).rules == ""


async def test_an_assignment_is_told_with_its_reason_and_found_among_ones_own(
    client: Client, house: House, bearer: Bearer, decide: Post
) -> None:
    key = await add_pending(house.ledger, post(1))
    assert (await decide("ana", key, action="assign", version=4, assignee="ben"))[0] == 403
    status, case = await decide("lea", key, action="assign", version=4, assignee="ben", reason="he knows schools")
    assert (status, case["history"][-1]["why"]) == (200, "assigned to ben: he knows schools")
    assert (await get(client, f"/v1/cases/{key}/related", bearer("ana")))["assignee"] == "ben"
    assert len((await get(client, "/v1/cases?mine=true", bearer("ben")))["cases"]) == 1
    assert (await get(client, "/v1/cases?mine=true", bearer("ana")))["cases"] == []
    await decide("lea", key, action="assign", version=5, assignee="ana")
    assert (await get(client, f"/v1/cases/{key}/related", bearer("ana")))["assignee"] == "ana"
    assert (await get(client, "/v1/cases?mine=true", bearer("ben")))["cases"] == []
    assert (await get(client, "/v1/choices", bearer("ana")))["moderators"] == ["ada", "ana", "ben", "lea"]


@pytest.mark.parametrize("name", ["note", "appeal"])
async def test_what_is_added_to_a_case_is_no_decision(name: str) -> None:
    with pytest.raises(ValueError, match="action"):
        Decision.model_validate({"action": name, "version": 1})
