from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from bot.changes import Changes
from bot.events import EventRoute
from core.background import running
from tests.bot.conftest import Client, House, Post
from tests.bot.samples import add_escalated, add_pending, post

Bearer = Callable[[str], dict[str, str]]
Event = tuple[str, str, Any]
HEARTBEAT = b"event: heartbeat\ndata: {}\n\n"


@asynccontextmanager
async def listening(client: Client, headers: dict[str, str], query: str = "") -> AsyncIterator[ClientResponse]:
    async with client.get(f"/v1/events{query}", headers=headers) as response:
        assert response.content_type == "text/event-stream"
        yield response


async def event(response: ClientResponse) -> Event:
    """Return the next event's name, id and data."""
    block = (await asyncio.wait_for(response.content.readuntil(b"\n\n"), 60)).decode().strip()
    fields = dict(line.split(": ", 1) for line in block.splitlines())
    return fields["event"], fields.get("id", ""), json.loads(fields["data"])


async def caught_up(house: House, id: int) -> None:
    while house.changes.last_id != id:
        await asyncio.sleep(0.01)


async def test_a_decision_is_seen_by_everybody_at_once(
    client: Client, house: House, bearer: Bearer, decide: Post
) -> None:
    key = await add_pending(house.ledger, post(1))
    async with listening(client, bearer("ana")) as ana_stream, listening(client, bearer("ben")) as ben_stream:
        assert (await event(ana_stream))[0] == (await event(ben_stream))[0] == "ready"
        await decide("ana", key, action="approve", version=4)
        for stream in (ana_stream, ben_stream):
            while (seen := await event(stream))[2].get("to_state") != "approved":
                assert seen[0] == "transition"
            assert (seen[2]["case_key"], seen[2]["who"], seen[2]["version"]) == (key, "ana", 5)


@pytest.mark.parametrize("way", ["header", "query"])
async def test_who_comes_back_gets_what_was_missed(client: Client, house: House, bearer: Bearer, way: str) -> None:
    await add_pending(house.ledger, post(1))
    await caught_up(house, 4)
    async with listening(client, bearer("ana")) as listener:
        await event(listener)
        await add_pending(house.ledger, post(2))
        last = [await event(listener) for _ in range(4)][-1][1]
    await add_pending(house.ledger, post(3))
    await caught_up(house, 12)
    headers = bearer("ana") | ({"Last-Event-ID": last} if way == "header" else {})
    async with listening(client, headers, f"?after={last}" if way == "query" else "") as listener:
        seen = [await event(listener) for _ in range(5)]
    assert [name for name, _, _ in seen] == ["transition"] * 4 + ["ready"]
    assert [int(number) for _, number, _ in seen] == [9, 10, 11, 12, 12]


async def test_who_missed_too_much_is_told_to_reload(
    client: Client, house: House, bearer: Bearer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.changes.PAGE", 2)
    await add_pending(house.ledger, post(1))
    await caught_up(house, 4)
    async with listening(client, bearer("ana"), "?after=1") as listener:
        assert await event(listener) == ("reload", "4", {})


async def test_what_comes_after_a_reload_is_counted_from_it(
    house: House, bearer: Bearer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.events.BACKLOG", 2)
    changes = Changes(house.ledger.history, every_s=60)
    changes.last_id = 0
    app = web.Application()
    EventRoute(changes, house.auth, house.ledger.history).add_routes(app)
    async with TestClient(TestServer(app)) as client, listening(client, bearer("ana"), "?tab=one") as listener:
        await event(listener)
        await add_pending(house.ledger, post(1))
        async with running([changes.run()]):
            assert (await event(listener))[:2] == ("reload", "4")
            async with client.post("/v1/viewing", json={"tab": "one", "case": "forum/1"}, headers=bearer("ana")):
                assert (await event(listener))[:2] == ("viewing", "4")


@pytest.mark.parametrize(("query", "then"), [("", "ready"), ("?after=1", "reload")])
async def test_a_lead_who_saw_nothing_or_missed_too_much_is_told_which_escalations_are_not_handled(
    client: Client, house: House, bearer: Bearer, monkeypatch: pytest.MonkeyPatch, query: str, then: str
) -> None:
    monkeypatch.setattr("bot.changes.PAGE", 2)
    first, second, third = [await add_escalated(house.ledger, post(number)) for number in range(3)]
    await house.ledger.casework.handle(second, (await house.desk.case(second)).version, "ben", "reported")
    newest = await house.ledger.history.last_id()
    await caught_up(house, newest)
    async with listening(client, bearer("lea"), query) as listener:
        name, id, escalations = await event(listener)
        assert (name, id) == ("escalations", ""), "the client goes on from the last id it had"
        assert [change["case_key"] for change in escalations] == [first, third]
        assert escalations[0]["why"]
        assert (await event(listener))[0] == then
    async with listening(client, bearer("ana"), query) as listener:
        assert (await event(listener))[0] == then
    async with listening(client, bearer("lea"), f"?after={newest - 1}") as listener:
        assert [(await event(listener))[0] for _ in range(2)] == ["transition", "ready"], "it missed nothing else"


@pytest.mark.parametrize("after", ["x", "-1", "9" * 30, "١"])
async def test_a_last_id_that_is_none_is_refused(client: Client, bearer: Bearer, after: str) -> None:
    async with client.get("/v1/events", params={"after": after}, headers=bearer("ana")) as response:
        assert response.status == 400


async def test_a_quiet_line_is_kept_open_with_heartbeats_as_often_as_it_says(house: House, bearer: Bearer) -> None:
    app = web.Application()
    EventRoute(Changes(house.ledger.history), house.auth, house.ledger.history, heartbeat_s=0.01).add_routes(app)
    async with TestClient(TestServer(app)) as client, listening(client, bearer("ana")) as listener:
        assert (await event(listener))[2] == {"heartbeat_s": 0.01}
        assert await listener.content.readuntil(b"\n\n") == HEARTBEAT


async def test_a_token_has_its_share_of_streams_and_others_have_theirs(
    house: House, bearer: Bearer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.events.MOST_STREAMS", 1)
    async with TestClient(TestServer(house.app())) as client:
        async with listening(client, bearer("ana")):
            async with client.get("/v1/events", headers=bearer("ana")) as refused:
                assert refused.status == 429
            async with listening(client, bearer("ben")) as other:
                assert (await event(other))[0] == "ready"
        async with asyncio.timeout(20):
            while (again := await client.get("/v1/events", headers=bearer("ana"))).status == 429:
                await asyncio.sleep(0.05)
        assert again.status == 200


async def test_a_stream_ends_with_its_session(house: House) -> None:
    app = web.Application()
    house.auth.add_routes(app)
    EventRoute(Changes(house.ledger.history), house.auth, house.ledger.history, heartbeat_s=0.05).add_routes(app)
    async with TestClient(TestServer(app)) as client:
        async with client.post("/session", json={"token": "ana-secret-token"}, headers={"X-Rejoinder": "desk"}):
            pass
        async with listening(client, {}) as listener:
            await event(listener)
            assert await listener.content.readuntil(b"\n\n") == HEARTBEAT
            (session,) = await house.ledger.sessions.list()
            await house.ledger.sessions.end(session.id)
            await asyncio.wait_for(listener.content.read(), 20)


async def test_an_open_line_does_not_hold_up_the_end(house: House, bearer: Bearer) -> None:
    server = TestServer(house.app())
    async with TestClient(server) as client, listening(client, bearer("ana")) as listener:
        await event(listener)
        await asyncio.wait_for(server.close(), 30)  # aiohttp waits a minute for an open line
