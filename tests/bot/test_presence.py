from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from bot.presence import Presence, Viewing
from core.errors import BadInput
from tests.bot.conftest import Client
from tests.bot.test_events import event, listening

Bearer = Callable[[str], dict[str, str]]


def test_those_at_a_case_are_told_of_each_other_until_they_leave() -> None:
    presence, heard = Presence(), list[Viewing]()
    with presence.present("a", "ana", heard.append):
        presence.look("a", "ana", "forum/1")
        with presence.present("b", "ben", lambda _: None), presence.present("c", "ben", lambda _: None):
            presence.look("b", "ben", "forum/1")
            presence.look("c", "ben", "forum/1")
            presence.look("b", "ben", "forum/2")
        assert [viewing.names for viewing in heard] == [
            ("ana",), ("ana", "ben"), ("ana", "ben"), ("ana", "ben"), ("ana",),
        ]  # fmt: skip
        with pytest.raises(BadInput, match="no open event stream"):
            presence.look("a", "mallory", "forum/1")


async def look(client: Client, headers: dict[str, str], tab: str, case: str | None) -> int:
    async with client.post("/v1/viewing", json={"tab": tab, "case": case}, headers=headers) as response:
        return response.status


async def test_the_event_stream_tells_who_looks_at_the_same_case(client: Client, bearer: Bearer) -> None:
    async with listening(client, bearer("ana"), "?tab=one") as ana_stream:
        assert (await event(ana_stream))[0] == "ready"
        assert await look(client, bearer("ana"), "one", "forum/1") == 200
        assert (await event(ana_stream))[2] == {"case_key": "forum/1", "names": ["ana"]}
        async with listening(client, bearer("ben"), "?tab=two") as ben_stream:
            await event(ben_stream)
            assert await look(client, bearer("ben"), "two", "forum/1") == 200
            assert (await event(ana_stream))[2]["names"] == ["ana", "ben"]
        assert (await event(ana_stream))[2]["names"] == ["ana"]
    for _ in range(200):
        if await look(client, bearer("ana"), "one", "forum/1") == 400:
            break
        await asyncio.sleep(0.05)
    assert await look(client, bearer("ben"), "one", "forum/1") == 400
    assert await look(client, {}, "one", "forum/1") == 401
