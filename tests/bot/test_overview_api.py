"""What the page "Today" is told: who has what, what floods in, the figures, their picture and their export."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from bot.bars import bars
from bot.stats import Figures, Share
from bot.surges import surges
from bot.surroundings import Surroundings
from core.domain import Intent, TargetGroup
from core.settings import CareSettings
from ledger.workloads import Arrival
from tests.bot.conftest import Client, House, Post
from tests.bot.samples import add_doubtful, add_pending, fill, post

Bearer = Callable[[str], dict[str, str]]
START = datetime(2026, 11, 22, 8, tzinfo=UTC)


async def get(client: Any, path: str, headers: dict[str, str]) -> tuple[int, Any]:
    async with client.get(path, headers=headers) as response:
        return response.status, await response.json()


async def test_today_says_what_waits_for_whom_and_counts_no_ones_decisions(
    house: House, client: Client, bearer: Bearer, decide: Post
) -> None:
    keys = await fill(house.ledger)
    await add_doubtful(house.ledger, post(8))
    await decide("ana", keys[1], action="claim", version=4)
    await decide("lea", keys[2], action="assign", version=4, assignee="ana")
    await decide("ben", keys[0], action="reject", version=4, reason="tone")
    status, today = await get(client, "/v1/today", bearer("ana"))
    assert (status, today["waiting"], today["doubtful"]) == (200, 6, 1)
    assert [case["key"] for case in today["mine"]] == [keys[1], keys[2]]
    assert today["oldest"][0]["key"] == keys[1] and keys[0] not in str(today)
    assert today["team"] == [{"who": "ana", "held": 1, "assigned": 1}]
    assert "<script>" not in str(today), "no post is on a list"


async def test_a_surge_is_told_by_the_chats_own_measure(house: House, bearer: Bearer) -> None:
    await fill(house.ledger)
    app = house.app(Surroundings(care=CareSettings(surge_cards=2)))
    async with TestClient(TestServer(app)) as client:
        _, today = await get(client, "/v1/today", bearer("ana"))
    assert {"group": "people_of_colour", "words": "6 posts against people of colour in 1 minute"} in today["surges"]
    assert {surge["group"] for surge in today["surges"]} == {"people_of_colour"}, "two of the others are no flood"


def test_a_steady_stream_is_no_surge_and_a_crowded_minute_is_one_from_its_start_on() -> None:
    def arrivals(*seconds: int) -> list[Arrival]:
        return [Arrival(START + timedelta(seconds=second), (TargetGroup.JEWS,)) for second in seconds]

    assert surges(arrivals(*range(0, 600, 30)), limit=3) == []
    (surge,) = surges(arrivals(0, 100, 200, 210, 220, 230, 400), limit=3)
    assert (surge.count, surge.since) == (5, START + timedelta(seconds=200))


async def test_the_figures_come_in_words_and_as_a_picture_that_needs_no_colour(
    house: House, client: Client, bearer: Bearer, decide: Post
) -> None:
    keys = await fill(house.ledger)
    await decide("ana", keys[0], action="reject", version=4, reason="tone")
    _, stats = await get(client, "/v1/stats?period=24h", bearer("ana"))
    assert stats["decided"] == 1 and "6 received" in stats["words"][0]
    async with client.get("/v1/stats.svg?period=24h", headers=bearer("ana")) as response:
        assert response.content_type == "image/svg+xml"
        assert "migrants</text>" in (picture := await response.text()) and "0 of 1</text>" in picture
    status, answer = await get(client, "/v1/stats?period=soon", bearer("ana"))
    assert (status, answer["error"]) == (400, "bad_input")


def test_a_bar_is_as_long_as_its_share_and_has_its_number_beside_it() -> None:
    shares = {Intent.POSITIVE: Share(1, 4)}
    picture = bars(Figures(START, 4, 0, 1, 0, 3, 0, None, {}, shares))
    assert 'width="75" height="15" fill="url(#hatch)"' in picture and "1 of 4</text>" in picture


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
async def test_a_lead_exports_the_decisions_without_any_post(
    house: House, client: Client, bearer: Bearer, decide: Post, ending: str
) -> None:
    key = await add_pending(house.ledger, post(1))
    await decide("ana", key, action="reject", version=4, reason="tone")
    path = f"/v1/export?period=1d&format={ending}"
    assert (await get(client, path, bearer("ana")))[0] == 403
    async with client.get(path, headers=bearer("lea")) as response:
        assert response.headers["Content-Disposition"].endswith(f'.{ending}"')
        exported = await response.text()
    assert "forum/post-1" in exported and "ruin" not in exported
    assert ending == "csv" or json.loads(exported)["state"] == "rejected"
    assert (await get(client, "/v1/export?format=exe", bearer("lea")))[0] == 400


async def test_the_page_is_told_what_runs_beside_it(house: House, bearer: Bearer) -> None:
    app = house.app(Surroundings(parts={"Worker": "drafts."}, takes_flags=True))
    async with TestClient(TestServer(app)) as client:
        assert await get(client, "/v1/about", bearer("ana")) == (
            200, {"parts": [{"name": "Worker", "does": "drafts."}], "takes_flags": True},
        )  # fmt: skip
        assert (await client.get("/v1/about")).status == 401


async def test_made_up_posts_are_marked_by_an_address_that_no_site_can_have(
    house: House, client: Client, bearer: Bearer
) -> None:
    await add_pending(house.ledger, post(1))
    await add_pending(house.ledger, post(2).model_copy(update={"url": "https://forum.test.org/p/2.example"}))
    _, listed = await get(client, "/v1/cases", bearer("ana"))
    assert [case["sample"] for case in listed["cases"]] == [True, False]


async def test_an_address_that_is_none_keeps_no_case_from_being_listed(
    client: Client, house: House, bearer: Bearer
) -> None:
    await add_pending(house.ledger, post(1).model_copy(update={"url": "https://[forum"}))
    status, listed = await get(client, "/v1/cases", bearer("ana"))
    assert (status, [case["sample"] for case in listed["cases"]]) == (200, [False])
