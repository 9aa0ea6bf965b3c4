from __future__ import annotations

from ipaddress import ip_network
from typing import Any
from urllib.parse import unquote

import pytest
from aiohttp.test_utils import TestClient, TestServer

from bot.auth import Auth
from bot.connections import behind_proxies
from bot.sessions import COOKIE
from bot.web.application import page_address
from core.throttle import Throttle
from core.tokens import TokenTable
from tests.bot.conftest import TOKENS, Client, House
from tests.bot.samples import add_pending, post

OWN_PAGE = {"X-Rejoinder": "desk"}


async def log_in(client: Client, name: str = "ana") -> int:
    token = TOKENS[name].token.get_secret_value() if name in TOKENS else name
    async with client.post("/session", json={"token": token}, headers=OWN_PAGE) as response:
        return response.status


async def who(client: Client) -> object:
    async with client.get("/session") as response:
        return (await response.json())["name"]


async def sessions(client: Client) -> list[dict[str, Any]]:
    async with client.get("/v1/sessions") as response:
        listed: list[dict[str, Any]] = (await response.json())["sessions"]
        return listed


def cookie_of(client: Client) -> str:
    return next(morsel.value for morsel in client.session.cookie_jar if morsel.key == COOKIE)


async def test_a_browser_logs_in_works_and_logs_out(client: Client, house: House) -> None:
    key = await add_pending(house.ledger, post(1))
    assert await who(client) is None
    assert await log_in(client) == 200
    assert await who(client) == "ana"
    claim = {"action": "claim", "version": 4}
    async with client.post(f"/v1/cases/{key}/decision", json=claim, headers=OWN_PAGE) as response:
        assert (await response.json())["claimed_by"] == "ana"
    async with client.delete("/session", headers=OWN_PAGE):
        assert await who(client) is None


async def test_a_page_that_shows_another_name_is_refused(client: Client, house: House) -> None:
    key = await add_pending(house.ledger, post(1))
    await log_in(client, "lea")
    claim = {"action": "claim", "version": 4}
    for shown in ("ana", "le%C3%A1"):
        headers = OWN_PAGE | {"X-Rejoinder-Name": shown}
        async with client.post(f"/v1/cases/{key}/decision", json=claim, headers=headers) as response:
            assert response.status == 401
            message = (await response.json())["message"]
            assert message.startswith(f"lea is logged in with this browser now, not {unquote(shown)}.")
        async with client.get("/v1/cases", headers=headers) as response:
            assert response.status == 401
    assert (await house.desk.case(key)).claimed_by is None
    headers = OWN_PAGE | {"X-Rejoinder-Name": "%6Cea"}
    async with client.post(f"/v1/cases/{key}/decision", json=claim, headers=headers) as response:
        assert (await response.json())["claimed_by"] == "lea"


async def test_a_copied_cookie_is_worthless_after_the_logout(client: Client) -> None:
    await log_in(client)
    stolen = {"Cookie": f"{COOKIE}={cookie_of(client)}"}
    async with client.delete("/session", headers=OWN_PAGE):
        pass
    async with client.get("/v1/cases", headers=stolen) as response:
        assert response.status == 401


async def test_a_login_ends_the_session_whose_cookie_it_replaces(house: House) -> None:
    server = TestServer(house.app())
    async with TestClient(server) as client, TestClient(server) as copy:
        await log_in(client)
        anas = {"Cookie": f"{COOKIE}={cookie_of(client)}"}
        await log_in(client, "lea")
        assert [session["who"] for session in await sessions(client)] == ["lea"]
        async with copy.get("/v1/cases", headers=anas) as response:
            assert response.status == 401


async def test_a_moderator_sees_their_own_sessions_and_ends_one_from_elsewhere(house: House) -> None:
    server = TestServer(house.app())
    async with TestClient(server) as home, TestClient(server) as office, TestClient(server) as bens:
        await log_in(home)
        await log_in(office)
        await log_in(bens, "ben")
        listed = await sessions(home)
        assert [(session["who"], session["this"]) for session in listed] == [("ana", False), ("ana", True)]
        assert listed[0]["browser"].startswith("Python")
        forgotten, own = listed[0]["id"], listed[1]["id"]
        async with bens.delete(f"/v1/sessions/{own}", headers=OWN_PAGE) as response:
            assert response.status == 403
        async with home.delete(f"/v1/sessions/{forgotten}") as response:
            assert response.status == 403, "without the header of our own page"
        async with home.delete(f"/v1/sessions/{forgotten}", headers=OWN_PAGE) as response:
            assert response.status == 200
        assert (await who(office), await who(home)) == (None, "ana")


async def test_a_lead_sees_and_ends_everybodys_sessions(house: House) -> None:
    server = TestServer(house.app())
    async with TestClient(server) as lea, TestClient(server) as ana:
        await log_in(lea, "lea")
        await log_in(ana)
        by_name = {session["who"]: session["id"] for session in await sessions(lea)}
        assert set(by_name) == {"ana", "lea"}
        async with lea.delete(f"/v1/sessions/{by_name['ana']}", headers=OWN_PAGE) as response:
            assert response.status == 200
        assert await who(ana) is None


async def test_the_cookie_is_kept_from_scripts_and_other_sites(client: Client) -> None:
    body = {"token": "ana-secret-token"}
    async with client.post("/session", json=body, headers=OWN_PAGE) as response:
        (cookie,) = response.headers.getall("Set-Cookie")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Max-Age=43200" in cookie
    assert "secret" not in cookie


async def test_the_cookie_is_for_tls_alone_behind_a_proxy_that_speaks_it(house: House) -> None:
    app = house.app()
    app.middlewares.insert(0, behind_proxies([ip_network("127.0.0.0/8")], "X-Forwarded-For"))
    told = OWN_PAGE | {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}
    async with TestClient(TestServer(app)) as client:
        async with client.post("/session", json={"token": "ana-secret-token"}, headers=told) as response:
            assert "; Secure" in response.headers["Set-Cookie"]
        async with client.post("/session", json={"token": "ana-secret-token"}, headers=OWN_PAGE) as response:
            assert "; Secure" not in response.headers["Set-Cookie"]


async def test_another_sites_page_can_neither_decide_nor_log_in_nor_out(client: Client, house: House) -> None:
    key = await add_pending(house.ledger, post(1))
    await log_in(client)
    async with client.post(f"/v1/cases/{key}/decision", json={"action": "claim", "version": 4}) as response:
        assert response.status == 403
    async with client.post("/session", json={"token": "ben-secret-token"}) as response:
        assert response.status == 403
    async with client.delete("/session") as response:
        assert response.status == 403
    assert await who(client) == "ana"
    assert (await house.desk.case(key)).claimed_by is None


@pytest.mark.parametrize("token", ["wrong-wrong", "", "site"])
async def test_no_desk_opens_for_a_wrong_token_or_a_platforms(client: Client, token: str) -> None:
    assert await log_in(client, token) == 401


@pytest.mark.parametrize("body", [b"", b"token", b'{"token": 5}', b"[]"])
async def test_a_login_that_makes_no_sense_is_refused(client: Client, body: bytes) -> None:
    async with client.post("/session", data=body, headers=OWN_PAGE) as response:
        assert response.status == 400


async def test_guessing_tokens_is_slowed_down(house: House) -> None:
    slow = House(**{**house.__dict__, "auth": Auth(TokenTable(TOKENS, Throttle(max_tries=3)), house.ledger.sessions)})
    async with TestClient(TestServer(slow.app())) as client:
        assert [await log_in(client, f"guess-number-{number}") for number in range(5)] == [401, 401, 401, 429, 429]
        async with client.post("/session", json={"token": "ana-secret-token"}, headers=OWN_PAGE) as response:
            assert response.status == 429
            assert 0 < int(response.headers["Retry-After"]) <= 60


async def test_guessing_bearers_is_slowed_down_but_not_who_works_behind_the_same_proxy(house: House) -> None:
    slow = House(**{**house.__dict__, "auth": Auth(TokenTable(TOKENS, Throttle(max_tries=3)), house.ledger.sessions)})

    async def listed(token: str) -> int:
        async with client.get("/v1/cases", headers={"Authorization": f"Bearer {token}"}) as response:
            return response.status

    async with TestClient(TestServer(slow.app())) as client:
        assert await listed("ana-secret-token") == 200
        assert [await listed(f"guess-number-{number}") for number in range(4)] == [401, 401, 401, 429]
        assert await listed("ben-secret-token") == 429
        assert await listed("ana-secret-token") == 200


def test_the_printed_address_keeps_the_token_behind_the_hash() -> None:
    assert page_address("127.0.0.1", 8080, "abc") == "http://127.0.0.1:8080/#token=abc"
    assert page_address("0.0.0.0", 80) == "http://127.0.0.1:80/"
