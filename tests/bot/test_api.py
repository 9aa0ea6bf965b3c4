from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from core.domain import CaseState
from tests.bot.conftest import TOKENS, Client, House, Post
from tests.bot.samples import DRAFT, HOSTILE, PLATFORM, add_doubtful, add_pending, fill, post

Bearer = Callable[[str], dict[str, str]]
DUELS = 60
DECISION = {"action": "claim", "version": 4}


async def get(client: Client, path: str, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    async with client.get(path, headers=headers) as response:
        return response.status, await response.json()


async def test_a_case_is_shown_whole_but_for_the_embedding(client: Client, house: House, bearer: Bearer) -> None:
    key = await add_pending(house.ledger, post(1))
    status, case = await get(client, f"/v1/cases/{key}", bearer("ana"))
    assert status == 200
    assert (case["key"], case["state"], case["version"]) == (key, "pending", 4)
    assert case["drafts"][0]["text"] == DRAFT
    assert [check["close"] for check in case["drafts"][0]["checks"]] == [False, False, True, False, False, False]
    assert case["grounding"]["evidence"][0]["source"]["locator"] == "article 28"
    assert "plan" not in case["grounding"]
    assert "candidates" not in case["drafts"][0]
    assert [change["to_state"] for change in case["history"]] == ["received", "triaged", "grounded", "pending"]
    assert {"embedding", "summed", "reread"}.isdisjoint(case["triage"])
    assert case["post"]["author_id"] is None


async def test_the_queue_is_the_oldest_first_and_never_holds_a_posts_text(
    client: Client, house: House, bearer: Bearer
) -> None:
    keys = await fill(house.ledger)
    status, page = await get(client, "/v1/cases?state=pending&limit=4", bearer("ana"))
    assert status == 200
    assert [case["key"] for case in page["cases"]] == keys[:4]
    assert page["counts"]["pending"] == 6
    assert "Zorblaxians" not in json.dumps(page)
    _, rest = await get(client, f"/v1/cases?state=pending&limit=4&cursor={quote(page['next_cursor'])}", bearer("ana"))
    assert [case["key"] for case in rest["cases"]] == keys[4:]
    assert rest["next_cursor"] is None


async def test_the_queue_is_narrowed_by_group_state_and_holder(
    client: Client, house: House, bearer: Bearer, decide: Post
) -> None:
    keys = await fill(house.ledger)
    await decide("ana", keys[1], action="claim", version=4)
    doubtful = await add_doubtful(house.ledger, post(7, "The weather is lovely today."))
    for query, expected in {
        "group=women": [keys[3]],
        "mine=true": [keys[1]],
        "state=approved&state=pending&order=newest&limit=1": [doubtful],
        "platform=elsewhere": [],
        "doubtful=true": [doubtful],
        "search=wheelchair": [keys[2]],
        "search=ramp%20DISABIL": [keys[2]],
        "search=women&group=migrants": [],
        "state=pending&doubtful=false": keys,
        "state=approved&doubtful=true": [],
    }.items():
        _, page = await get(client, f"/v1/cases?{query}", bearer("ana"))
        assert [case["key"] for case in page["cases"]] == expected
        assert (page["doubtful"], page["counts"]["pending"]) == (1, 7)


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=abc",
        "limit=100000",
        "doubtful=perhaps",
        "state=sleeping",
        "group=cats",
        "order=up",
        "cursor=x",
    ],
)
async def test_a_query_that_makes_no_sense_is_refused_in_plain_words(
    client: Client, bearer: Bearer, query: str
) -> None:
    status, answer = await get(client, f"/v1/cases?{query}", bearer("ana"))
    assert (status, answer["error"]) == (400, "bad_input")
    assert query.split("=")[0] in answer["message"]


@pytest.mark.parametrize(
    "post_id", ["a/b/c", "50%", "what?", "a#b", "100%25", "ü-ñ-日本", "a+b&c", "x/decision", "a:b@c"]
)
async def test_any_post_id_finds_its_case(
    client: Client, house: House, bearer: Bearer, decide: Post, post_id: str
) -> None:
    key = await add_pending(house.ledger, post(1).model_copy(update={"post_id": post_id}))
    path = f"{PLATFORM}/{quote(post_id, safe='')}"
    status, case = await get(client, f"/v1/cases/{path}", bearer("ana"))
    assert (status, case.get("key")) == (200, key)
    assert (await decide("ana", path, action="claim", version=4))[0] == 200


MEANS = [("GET", "/v1/cases", None), ("GET", f"/v1/cases/{PLATFORM}/post-1", None), ("GET", "/v1/events", None),
         ("GET", "/v1/choices", None), ("POST", f"/v1/cases/{PLATFORM}/post-1/decision", DECISION),
         ("POST", f"/v1/cases/{PLATFORM}/post-1/checks", {"text": "a"}),
         ("POST", f"/v1/cases/{PLATFORM}/post-1/notes", {"text": "a"}),
         ("GET", f"/v1/cases/{PLATFORM}/post-1/related", None), ("POST", "/v1/viewing", {"tab": "a"}),
         ("POST", "/v1/decisions", {"action": "dismiss", "cases": [{"key": "a/b", "version": 1}]})]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body"), MEANS)
async def test_without_a_token_nothing_is_told(
    client: Client, house: House, method: str, path: str, body: object
) -> None:
    await add_pending(house.ledger, post(1))
    for headers in ({}, {"Authorization": "Bearer wrong-token"}, {"Cookie": "rejoinder_session=YW5h.99999999999.00"}):
        async with client.request(method, path, json=body, headers=headers) as response:
            assert response.status == 401
            assert response.headers["WWW-Authenticate"].startswith("Bearer")
            assert (await response.json())["error"] == "unauthenticated"


@pytest.mark.parametrize(("method", "path", "body"), MEANS)
async def test_a_platforms_token_neither_sees_nor_decides(
    client: Client, house: House, bearer: Bearer, method: str, path: str, body: object
) -> None:
    await add_pending(house.ledger, post(1))
    async with client.request(method, path, json=body, headers=bearer("site")) as response:
        assert response.status == 403
        assert "moderator" in (await response.json())["message"]


async def test_an_unknown_case_is_not_found(client: Client, bearer: Bearer, decide: Post) -> None:
    status, answer = await get(client, "/v1/cases/forum/nowhere", bearer("ana"))
    assert (status, answer["error"]) == (404, "not_found")
    assert (await decide("ana", "forum/nowhere", **DECISION))[0] == 404
    assert (await get(client, "/v1/nothing", bearer("ana")))[0] == 404


@pytest.mark.parametrize(("body", "complaint"), [
    (b"", "JSON"), (b"{", "JSON"), (b"[]", "record"), (b'{"action":"approve"}', "version: is missing"),
    (b'{"action":"eat","version":1}', "action"), (b'{"action":"claim","version":"new"}', "version"),
    (b"\xff\xfe", "JSON"), (json.dumps({"action": "edit", "version": 4, "text": "a" * 20_001}).encode(), "text"),
])  # fmt: skip
async def test_a_decision_that_makes_no_sense_is_refused_in_plain_words(
    client: Client, house: House, bearer: Bearer, body: bytes, complaint: str
) -> None:
    key = await add_pending(house.ledger, post(1))
    async with client.post(f"/v1/cases/{key}/decision", data=body, headers=bearer("ana")) as response:
        answer = await response.json()
    assert (response.status, answer["error"]) == (400, "bad_input")
    assert complaint in answer["message"]
    assert "pydantic" not in answer["message"]


async def test_a_body_too_large_is_refused(client: Client, house: House, bearer: Bearer) -> None:
    key = await add_pending(house.ledger, post(1))
    async with client.post(
        f"/v1/cases/{key}/checks", data=io.BytesIO(b"a" * 2_000_000), headers=bearer("ana")
    ) as response:
        assert response.status == 413
        assert (await response.json())["error"] == "request_entity_too_large"


async def test_a_text_too_long_for_any_reply_is_refused_before_anything_is_looked_up(
    client: Client, bearer: Bearer
) -> None:
    body = {"text": "a" * 20_001}
    async with client.post(f"/v1/cases/{PLATFORM}/none/checks", json=body, headers=bearer("ana")) as response:
        assert response.status == 400
        assert "20000" in (await response.json())["message"]


async def test_a_decision_answers_with_the_new_state_and_version(client: Client, house: House, decide: Post) -> None:
    key = await add_pending(house.ledger, post(1))
    status, case = await decide("ana", key, action="approve", version=4, text=DRAFT)
    assert (status, case["state"], case["version"], case["final_text"]) == (200, "approved", 5, DRAFT)
    assert case["history"][-1]["who"] == "ana"


async def test_a_case_comes_with_what_its_reader_may_do(
    client: Client, house: House, bearer: Bearer, decide: Post
) -> None:
    key = await add_pending(house.ledger, post(1))
    _, case = await get(client, f"/v1/cases/{key}", bearer("ana"))
    assert (case["actions"], case["undoable"]) == (
        ["approve", "assign", "claim", "dismiss", "edit", "redraft", "reject"],
        False,
    )
    _, after = await decide("ana", key, action="approve", version=4)
    assert (after["actions"], after["undoable"]) == (["undo"], True)
    _, as_ben_sees_it = await get(client, f"/v1/cases/{key}", bearer("ben"))
    assert (as_ben_sees_it["actions"], as_ben_sees_it["undoable"]) == ([], True)


async def test_who_comes_second_is_told_who_was_first(house: House, decide: Post) -> None:
    key = await add_pending(house.ledger, post(1))
    await decide("ben", key, action="reject", version=4, reason="tone")
    status, answer = await decide("ana", key, action="approve", version=4)
    assert (status, answer["error"]) == (409, "stale")
    assert "ben rejected it" in answer["message"]
    assert (answer["case"]["state"], answer["case"]["version"], answer["case"]["decided_by"]) == ("rejected", 5, "ben")


async def test_anothers_claim_is_told_with_their_name(house: House, decide: Post) -> None:
    key = await add_pending(house.ledger, post(1))
    await decide("ben", key, action="claim", version=4)
    status, answer = await decide("ana", key, action="approve", version=5)
    assert (status, answer["error"], answer["case"]["claimed_by"]) == (409, "claimed", "ben")
    status, answer = await decide("lea", key, action="approve", version=5, override=True)
    assert (status, answer["decided_by"]) == (200, "lea")


async def test_a_text_that_fails_comes_back_with_its_checks(house: House, decide: Post) -> None:
    key = await add_pending(house.ledger, post(1))
    status, answer = await decide("ana", key, action="edit", version=4, text="It is forbidden.")
    assert (status, answer["error"]) == (422, "fails_checks")
    assert answer["checks"][0] == {
        "name": "insult", "passed": False, "value": 1, "threshold": 0, "hard": True, "detail": "a word", "close": False,
        "label": "insults nobody", "finding": "fails: insults nobody (a word; 1 of 0)",
    }  # fmt: skip
    assert (await decide("ana", key, action="edit", version=4, text="It is forbidden.", override=True))[0] == 403
    assert (await decide("lea", key, action="edit", version=4, text="It is forbidden.", override=True))[0] == 200


async def test_a_text_is_checked_while_it_is_written(client: Client, house: House, bearer: Bearer) -> None:
    key = await add_pending(house.ledger, post(1))
    for text, passes in {"A fine text.": True, "A forbidden text.": False}.items():
        async with client.post(f"/v1/cases/{key}/checks", json={"text": text}, headers=bearer("ana")) as response:
            assert (await response.json())["passes"] is passes
    assert (await house.desk.case(key)).version == 4


async def test_the_choices_of_the_menus_are_listed(client: Client, bearer: Bearer) -> None:
    _, choices = await get(client, "/v1/choices", bearer("ana"))
    assert choices["intents"] == ["informative", "questioning", "denouncing", "positive"]
    assert choices["reasons"][-1]["code"] == "other"
    assert len(choices["reasons"]) <= 9


async def test_a_ledger_that_is_away_is_503_and_says_when_to_try_again(
    client: Client, house: House, bearer: Bearer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from core.errors import LedgerUnavailable

    async def away(key: str) -> None:
        raise LedgerUnavailable("the ledger did not answer")

    monkeypatch.setattr(house.ledger.cases, "get", away)
    async with client.get("/v1/cases/forum/post-1", headers=bearer("ana")) as response:
        assert (response.status, response.headers["Retry-After"]) == (503, "5")


async def test_of_two_who_decide_at_once_one_wins_and_the_other_sees_who(house: House, decide: Post) -> None:
    for number in range(DUELS):
        key = await add_pending(house.ledger, post(number))
        answers = await asyncio.gather(
            decide("ana", key, action="approve", version=4),
            decide("ben", key, action="reject", version=4, reason="tone"),
        )
        assert sorted(status for status, _ in answers) == [200, 409]
        won = next(answer for status, answer in answers if status == 200)
        lost = next(answer for status, answer in answers if status == 409)
        assert won["decided_by"] in lost["message"]
        assert lost["case"]["decided_by"] == won["decided_by"]
    counts = await house.desk.counts()
    assert counts[CaseState.APPROVED] + counts[CaseState.REJECTED] == DUELS


async def test_hostile_text_travels_as_data(client: Client, house: House, bearer: Bearer) -> None:
    key = await add_pending(house.ledger, post(1, HOSTILE))
    async with client.get(f"/v1/cases/{key}", headers=bearer("ana")) as response:
        assert response.content_type == "application/json"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert (await response.json())["post"]["text"] == HOSTILE


async def test_no_token_is_ever_logged_or_answered(
    client: Client, house: House, bearer: Bearer, decide: Post, caplog: pytest.LogCaptureFixture
) -> None:
    key = await add_pending(house.ledger, post(1))
    answers: list[str] = []
    secret = TOKENS["ana"].token.get_secret_value()
    with caplog.at_level(logging.DEBUG):
        for body in (
            json.dumps({"token": secret}),
            json.dumps({"token": secret + "x"}),
            secret,
            f'{{"token": "{secret}',
        ):
            for headers in ({}, {"X-Rejoinder": "desk"}):
                async with client.post("/session", data=body, headers=headers) as response:
                    answers += [await response.text(), str(response.headers)]
        for headers in (bearer("ana"), {"Authorization": f"Bearer {secret}x"}, {"Authorization": secret}):
            for path in ("/v1/cases", f"/v1/cases/{key}", "/v1/cases/a/b", "/v1/nothing", "/v1/cases?limit=0"):
                async with client.get(path, headers=headers) as response:
                    answers += [await response.text(), str(response.headers)]
        await decide("ana", key, action="edit", version=4, text="forbidden")
    assert caplog.records
    logged = "\n".join(f"{record.getMessage()} {record.exc_text} {record.__dict__}" for record in caplog.records)
    for text in (logged, *answers):
        assert "ana-secret" not in text


async def test_who_uncovered_a_post_is_recorded_only_where_the_operator_wishes_it(
    client: Client, house: House, bearer: Bearer
) -> None:
    key = await add_pending(house.ledger, post(1))
    for wished in (False, True):
        house.desk.settings = house.settings.model_copy(update={"record_uncovering": wished})
        async with client.post(f"/v1/cases/{key}/uncovered", headers=bearer("ana")) as response:
            assert response.status == 204
        [held] = await house.ledger.holdings.of([key])
        assert [look["who"] for look in held["uncoverings"]] == (["ana"] if wished else [])
    async with client.post("/v1/cases/a/b/uncovered", headers=bearer("ana")) as response:
        assert response.status == 404
    async with client.post(f"/v1/cases/{key}/uncovered") as response:
        assert response.status == 401


async def test_an_erased_case_is_shown_without_words_and_offers_nothing(
    client: Client, house: House, bearer: Bearer, decide: Post
) -> None:
    key = await add_pending(house.ledger, post(1))
    await house.ledger.erasure.erase(key, "operator", "erased on request")
    status, case = await get(client, f"/v1/cases/{key}", bearer("lea"))
    assert (status, case["post"]["text"], case["actions"], case["drafts"]) == (200, "[erased]", [], [])
    status, answer = await decide("lea", key, action="undo", version=case["version"])
    assert status == 409 and "erased" in answer["message"]
