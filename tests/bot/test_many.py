"""One decision on many cases: each by itself, with what came of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.bot.conftest import Client, House, Post
from tests.bot.samples import DRAFT, add_pending, fill, post

Bearer = Callable[[str], dict[str, str]]


async def decide_many(client: Client, headers: dict[str, str], **body: Any) -> tuple[int, Any]:
    async with client.post("/v1/decisions", json=body, headers=headers) as response:
        return response.status, await response.json()


def seen(*keys: str, version: int = 4) -> list[dict[str, Any]]:
    return [{"key": key, "version": version} for key in keys]


async def test_several_are_rejected_for_one_reason_and_a_changed_one_is_reported(
    client: Client, house: House, bearer: Bearer, decide: Post
) -> None:
    keys = await fill(house.ledger)
    await decide("ben", keys[1], action="reject", version=4, reason="language")
    await decide("ben", keys[2], action="claim", version=4)
    cases = [*seen(keys[0], keys[1]), *seen(keys[2], version=5), *seen("forum/nowhere", keys[3])]
    status, answer = await decide_many(client, bearer("ana"), action="reject", reason="tone", cases=cases)
    results = answer["results"]
    assert status == 200
    assert [result["done"] for result in results] == [True, False, False, False, True]
    assert [result.get("error") for result in results] == [None, "stale", "claimed", "not_found", None]
    assert "ben rejected it" in results[1]["message"]
    states = {key: (await house.desk.case(key)).decided_why for key in keys[:4]}
    assert states == {keys[0]: "tone", keys[1]: "language", keys[2]: None, keys[3]: "tone"}
    undone = [{"key": result["key"], "version": result["version"]} for result in results if result["done"]]
    _, answer = await decide_many(client, bearer("ana"), action="undo", cases=undone)
    assert [result["state"] for result in answer["results"]] == ["pending", "pending"]


async def test_each_of_the_same_text_gets_the_reply_it_was_shown_with(
    client: Client, house: House, bearer: Bearer
) -> None:
    texts = {await add_pending(house.ledger, post(n, "Keep them out!"), f"{DRAFT} {n}"): f"{DRAFT} {n}" for n in (1, 2)}
    cases = [{"key": key, "version": 4, "text": text} for key, text in texts.items()]
    other = await add_pending(house.ledger, post(3, "Keep them out!"))
    cases.append({"key": other, "version": 4, "text": "Another text than its draft. Not the one."})
    _, answer = await decide_many(client, bearer("ana"), action="approve", cases=cases)
    assert [result["done"] for result in answer["results"]] == [True, True, False]
    assert {key: (await house.desk.case(key)).final_text for key in texts} == texts
    assert (await house.desk.case(other)).state == "pending"


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({"action": "retract", "cases": seen("a/b")}, "many"),
        ({"action": "approve", "cases": seen("a/b")}, "text"),
        ({"action": "reject", "cases": []}, "cases"),
        ({"action": "reject", "cases": seen(*["a/b"] * 101)}, "cases"),
        ({"action": "reject", "cases": [{}] * 101}, ": cases.0.key: is missing; cases.0.version: is missing."),
    ],
)
async def test_what_makes_no_sense_for_many_is_refused_whole(
    client: Client, bearer: Bearer, body: dict[str, Any], complaint: str
) -> None:
    status, answer = await decide_many(client, bearer("ana"), **body)
    assert status == 400
    assert complaint in answer["message"]


async def test_of_two_who_decide_on_many_at_once_each_case_has_one_decision(
    client: Client, house: House, bearer: Bearer
) -> None:
    keys = await fill(house.ledger)
    answers = await asyncio.gather(
        decide_many(client, bearer("ana"), action="reject", reason="tone", cases=seen(*keys)),
        decide_many(client, bearer("ben"), action="dismiss", cases=seen(*reversed(keys))),
    )
    done = [result["key"] for _, answer in answers for result in answer["results"] if result["done"]]
    assert sorted(done) == sorted(keys)


async def test_a_platforms_token_decides_on_none(client: Client, bearer: Bearer) -> None:
    assert (await decide_many(client, bearer("site"), action="reject", cases=seen("a/b")))[0] == 403
    assert (await decide_many(client, {}, action="reject", cases=seen("a/b")))[0] == 401
