"""Standing intents, paused channels and hidden groups are set on the page as in the chats."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from bot.chat.intents import chooser
from bot.surroundings import Surroundings
from core.domain import Intent, Route, TargetGroup
from core.settings import ChatWorkspace
from ledger.moderator_settings import SwitchKind
from tests.bot.conftest import Client, House, Post
from tests.bot.samples import add_pending, fill, post, triage_of

Bearer = Callable[[str], dict[str, str]]
Send = Callable[..., Any]


@pytest.fixture
async def client(house: House) -> AsyncIterator[Client]:
    servers = {"s1": ChatWorkspace(channel="c1")}
    async with TestClient(TestServer(house.app(Surroundings(chats={"discord": servers})))) as client:
        yield client


@pytest.fixture
def send(client: Client, bearer: Bearer) -> Send:
    async def call(name: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        async with client.request(method, path, json=body, headers=bearer(name)) as response:
            return response.status, await response.json()

    return call


async def test_an_intent_set_on_the_page_holds_for_new_drafts_with_or_without_chats(house: House, send: Send) -> None:
    body = {"kind": "group", "scope": "migrants", "intent": "questioning"}
    assert (await send("ana", "POST", "/v1/standing/intents", body))[0] == 403
    status, standing = await send("lea", "POST", "/v1/standing/intents", body)
    assert (status, standing["intents"][0]["intent"]) == (200, "questioning")
    assert await chooser(house.ledger, {})(post(1), triage_of()) is Intent.QUESTIONING
    assert await chooser(house.ledger, {})(post(1), triage_of(TargetGroup.WOMEN)) is None
    status, standing = await send("lea", "POST", "/v1/standing/intents", body | {"intent": None})
    assert standing["intents"] == []
    assert (await send("lea", "POST", "/v1/standing/intents", body | {"scope": "zorblaxians"}))[0] == 400


async def test_a_lead_pauses_a_channel_of_the_chats_from_the_page(house: House, send: Send) -> None:
    body = {"surface": "discord", "server": "s1", "kind": "paused", "scope": "c1", "on": True, "hours": 2}
    assert (await send("ana", "POST", "/v1/standing/pauses", body))[0] == 403
    status, standing = await send("lea", "POST", "/v1/standing/pauses", body)
    assert (status, standing["channels"][0]["paused_by"]) == (200, "lea")
    (switch,) = await house.ledger.moderator_settings.switched("discord", "s1")
    assert (switch.kind, switch.scope, switch.until is not None) == (SwitchKind.PAUSED, "c1", True)
    _, standing = await send("lea", "POST", "/v1/standing/pauses", body | {"on": False})
    assert standing["channels"][0]["paused_by"] is None
    assert (await send("lea", "POST", "/v1/standing/pauses", body | {"scope": "c9"}))[0] == 400


async def test_a_hidden_group_leaves_ones_own_lists_and_nobody_elses(house: House, send: Send) -> None:
    await fill(house.ledger)
    women = await add_pending(house.ledger, post(9), group=TargetGroup.WOMEN)
    both = ["women", "people_of_colour"]
    assert (await send("ana", "PUT", "/v1/hidden-groups", {"groups": both}))[1]["groups"] == sorted(both)

    async def keys(name: str, query: str = "") -> list[str]:
        return [case["key"] for case in (await send(name, "GET", f"/v1/cases{query}"))[1]["cases"]]

    assert women not in await keys("ana") and women in await keys("ben")
    assert len(await keys("ana")) == 5, "posts that attack others too are still listed"
    assert women in await keys("ana", "?group=women"), "a group that was named is shown"
    assert women not in [case["key"] for case in (await send("ana", "GET", "/v1/today"))[1]["oldest"]]
    await send("ana", "PUT", "/v1/hidden-groups", {"groups": []})
    assert women in await keys("ana")
    status, refusal = await send("ana", "PUT", "/v1/hidden-groups", {"groups": ["nobody"] * 5})
    assert status == 400 and refusal["message"].count("Input should be") == 1, "it is given up at the first wrong one"


async def test_what_was_escalated_is_listed_although_its_groups_are_hidden(
    house: House, send: Send, decide: Post
) -> None:
    flagged = post(3, "Zorblaxians should fear us.")
    await house.ledger.stages.receive([flagged])
    await house.ledger.stages.triage(flagged, triage_of(route=Route.ESCALATE))
    await send("lea", "PUT", "/v1/hidden-groups", {"groups": ["migrants", "people_of_colour"]})
    _, listed = await send("lea", "GET", "/v1/cases?state=escalated")
    assert [case["key"] for case in listed["cases"]] == [flagged.key]
    assert listed["hidden"] == ["migrants", "people_of_colour"]
