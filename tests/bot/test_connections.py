"""Proxies that are believed and those that are not; clients that dawdle."""

from __future__ import annotations

import asyncio
import time
from ipaddress import ip_network

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.connections import Network, ProxyHeader, behind_proxies
from rejoinder.web import serving

LOOPBACK: tuple[Network, ...] = (ip_network("127.0.0.0/8"), ip_network("10.0.0.0/8"))
XFF: ProxyHeader = "X-Forwarded-For"


async def caller(trusted: tuple[Network, ...], header: ProxyHeader, headers: dict[str, str]) -> str:
    async def tell(request: web.Request) -> web.Response:
        return web.Response(text=f"{request.remote} {request.scheme} {request.secure}")

    app = web.Application(middlewares=[behind_proxies(trusted, header)])
    app.router.add_get("/", tell)
    async with TestClient(TestServer(app)) as client, client.get("/", headers=headers) as response:
        return await response.text()


@pytest.mark.parametrize(("header", "headers", "seen"), [
    (XFF, {}, "127.0.0.1 http False"),
    (XFF, {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}, "192.0.2.7 https True"),
    (XFF, {"X-Forwarded-For": "198.51.100.1, 192.0.2.7, 10.1.2.3"}, "192.0.2.7 http False"),
    (XFF, {"X-Forwarded-For": "10.0.0.9"}, "10.0.0.9 http False"),
    (XFF, {"Forwarded": "for=192.0.2.7;proto=https"}, "127.0.0.1 http False"),
    ("Forwarded", {"Forwarded": 'for=192.0.2.7;proto=https, for="10.0.0.1:8080"'}, "192.0.2.7 https True"),
    ("Forwarded", {"Forwarded": 'for="[2001:db8::1]:4711";proto=https'}, "2001:db8::1 https True"),
    ("Forwarded", {"X-Forwarded-For": "192.0.2.7"}, "127.0.0.1 http False"),
])  # fmt: skip
async def test_a_trusted_proxy_says_who_calls_and_how(header: ProxyHeader, headers: dict[str, str], seen: str) -> None:
    assert await caller(LOOPBACK, header, headers) == seen


async def test_nobody_else_is_believed() -> None:
    headers = {"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}
    assert await caller((ip_network("192.0.2.0/24"),), XFF, headers) == "127.0.0.1 http False"


async def dawdle(first: bytes, drip: bytes) -> tuple[float, bytes]:
    """Send bytes, then others now and then; return after how many seconds the server ended it, and what it said."""

    async def read(request: web.Request) -> web.Response:
        return web.Response(body=await request.read())

    app = web.Application()
    app.router.add_post("/", read)
    async with serving(app, "127.0.0.1", 0) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(first)
        began, answer = time.monotonic(), b""
        async with asyncio.timeout(20):
            while not reader.at_eof() and not answer:
                try:
                    answer += await asyncio.wait_for(reader.read(1000), 0.1)
                except TimeoutError:
                    writer.write(drip)
        writer.close()
        return time.monotonic() - began, answer


async def test_a_head_that_trickles_in_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rejoinder.web.IDLE_S", 0.5)
    took, answer = await dawdle(b"POST / HTTP/1.1\r\nHost: desk\r\n", b"X-Slow: yes\r\n")
    assert took < 10 and answer == b""


async def test_a_body_that_trickles_in_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.connections.BODY_S", 0.5)
    took, answer = await dawdle(b"POST / HTTP/1.1\r\nHost: desk\r\nContent-Length: 1000\r\n\r\n", b"a")
    assert took < 10 and answer.startswith(b"HTTP/1.1 408") and b"too_slow" in answer
