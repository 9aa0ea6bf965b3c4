"""A moderator finds evidence and puts it into a case, and nothing that no search brought."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from bot.pipeline_cli import PipelineCli
from core.domain import Evidence, TargetGroup
from stream.messages import Grounded, decode
from tests.bot.conftest import Client, House, Post
from tests.bot.samples import CRC, HEARSAY, UDHR, add_pending, post

Bearer = Callable[[str], dict[str, str]]
Send = Callable[..., Any]


class Answers(PipelineCli):
    """A knowledge base of one statement."""

    async def evidence(self, query: str, group: TargetGroup | None) -> list[Evidence]:
        return [HEARSAY] if "jobs" in query and group is not TargetGroup.JEWS else []


@pytest.fixture
async def client(house: House) -> AsyncIterator[Client]:
    async with TestClient(TestServer(house.app(pipeline_cli=Answers()))) as client:
        yield client


@pytest.fixture
def send(client: Client, bearer: Bearer) -> Send:
    async def call(name: str, path: str, body: Any) -> tuple[int, Any]:
        async with client.post(path, json=body, headers=bearer(name)) as response:
            return response.status, await response.json()

    return call


async def test_a_found_statement_stands_first_is_in_the_history_and_goes_into_the_next_draft(
    house: House, send: Send, decide: Post
) -> None:
    key = await add_pending(house.ledger, post(1), evidence=(CRC, UDHR))
    status, answer = await send("ana", "/v1/evidence", {"query": "jobs", "group": "migrants"})
    (piece,) = answer["evidence"]
    assert (status, piece["id"]) == (200, HEARSAY.id) and "second-hand" in str(piece["marks"])
    status, case = await send("ana", f"/v1/cases/{key}/evidence", {"id": HEARSAY.id})
    ids = [each["id"] for each in case["grounding"]["evidence"]]
    assert (status, case["version"], ids) == (200, 5, [HEARSAY.id, CRC.id, UDHR.id])
    assert case["history"][-1]["kind"] == "evidence" and HEARSAY.text in case["history"][-1]["why"]
    status, case = await decide("ana", key, action="redraft", version=5)
    assert status == 200
    (row,) = await house.ledger.outbox.lease("test", 30, 50)
    assert decode(row.value.encode(), Grounded).grounding.evidence[0] == HEARSAY
    status, answer = await send("ana", f"/v1/cases/{key}/evidence", {"id": HEARSAY.id})
    assert (status, answer["error"]) == (409, "not_allowed"), "a case whose draft is being written takes no more"


async def test_a_statement_that_no_search_brought_is_refused(house: House, send: Send) -> None:
    key = await add_pending(house.ledger, post(1))
    status, answer = await send("ana", f"/v1/cases/{key}/evidence", {"id": HEARSAY.id})
    assert (status, answer["error"]) == (400, "bad_input")
    assert (await house.desk.case(key)).version == 4


async def test_a_colleagues_case_takes_no_evidence_of_others(house: House, send: Send, decide: Post) -> None:
    key = await add_pending(house.ledger, post(1))
    await decide("ben", key, action="claim", version=4)
    await send("ana", "/v1/evidence", {"query": "jobs"})
    status, answer = await send("ana", f"/v1/cases/{key}/evidence", {"id": HEARSAY.id})
    assert (status, answer["error"]) == (409, "claimed") and "ben" in answer["message"]
