import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from core.errors import BadSettings, ModelRefused, ModelUnavailable
from models import endpoint
from models.chat import ChatClient, Completion, Message
from tests.core.turned_clock import TurnedClock
from tests.ports import unused_port

ASK = [Message("system", "Answer briefly."), Message("user", "Are Zorblaxians people?")]
Serve = Callable[[dict[str, Callable[[web.Request], Awaitable[web.Response]]]], Awaitable[str]]
KEY = "sk-very-secret-key"


def answer(text: str = "Yes.", reason: str = "stop") -> web.Response:
    message = {"role": "assistant", "content": text}
    return web.json_response({"choices": [{"message": message, "finish_reason": reason}]})


def client(base: str, *, attempts: int = 3, timeout_s: float = 5.0, clock: TurnedClock | None = None) -> ChatClient:
    return ChatClient(f"{base}/v1", "tiny", SecretStr(KEY), timeout_s, attempts, clock or TurnedClock())


async def test_a_completion_carries_text_and_reason_and_the_request_what_was_asked(serve: Serve) -> None:
    seen: list[tuple[str | None, dict[str, Any]]] = []

    async def complete(request: web.Request) -> web.Response:
        seen.append((request.headers.get("Authorization"), await request.json()))
        return answer("They are.", "length")

    async with client(await serve({"POST /v1/chat/completions": complete})) as chat:
        got = await chat.complete(ASK, temperature=0.2, max_tokens=7, grammar='root ::= "x"', seed=11, stop=["\n"])
    assert got == [Completion("They are.", "length")]
    assert seen == [
        (
            f"Bearer {KEY}",
            {
                "model": "tiny",
                "messages": [{"role": m.role, "content": m.content} for m in ASK],
                "temperature": 0.2,
                "max_tokens": 7,
                "grammar": 'root ::= "x"',
                "seed": 11,
                "stop": ["\n"],
            },
        )
    ]


async def test_an_answer_holds_nothing_that_can_not_be_stored(serve: Serve) -> None:
    async def complete(request: web.Request) -> web.Response:
        return answer("They are.\x00\n\ud83d")

    async with client(await serve({"POST /v1/chat/completions": complete})) as chat:
        assert (await chat.complete(ASK))[0].text == "They are.\n\N{REPLACEMENT CHARACTER}"


async def test_a_request_turns_on_its_adapter_and_all_others_off(serve: Serve) -> None:
    asked: list[Any] = []

    async def complete(request: web.Request) -> web.Response:
        asked.append((await request.json()).get("lora"))
        return answer("They are.")

    base = await serve({"POST /v1/chat/completions": complete})
    async with ChatClient(f"{base}/v1", "tiny", None, 5.0, 1, adapters=("warm", "firm")) as chat:
        for adapter in ("firm", None, "unknown"):
            await chat.complete(ASK, adapter=adapter)
    scales = [[entry["scale"] for entry in lora] for lora in asked]
    assert scales == [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]], "llama.cpp applies an adapter that it is told nothing of"
    assert [entry["id"] for entry in asked[0]] == [0, 1]


async def test_a_batch_is_one_request(serve: Serve) -> None:
    asked: list[int | None] = []

    async def complete(request: web.Request) -> web.Response:
        asked.append((await request.json()).get("n"))
        choices = [{"message": {"content": f"Yes {k}."}, "finish_reason": "stop"} for k in range(3)]
        return web.json_response({"choices": choices})

    async with client(await serve({"POST /v1/chat/completions": complete})) as chat:
        assert [got.text for got in await chat.complete(ASK, n=3)] == ["Yes 0.", "Yes 1.", "Yes 2."]
    assert asked == [3]


@pytest.mark.parametrize("gives", [0, 1], ids=["refusing", "giving one"])
async def test_a_server_without_batches_is_asked_at_once_in_requests_with_seeds_of_their_own(
    serve: Serve, gives: int
) -> None:
    all_there = asyncio.Barrier(3 - gives)
    asked: list[tuple[int | None, int]] = []

    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        asked.append((body.get("n"), body["seed"]))
        if "n" in body:
            return answer() if gives else web.Response(status=400, text="one at a time")
        await all_there.wait()
        return answer()

    async with client(await serve({"POST /v1/chat/completions": complete})) as chat:
        assert len(await chat.complete(ASK, n=3, seed=5)) == 3
        assert asked == [(3, 5), *((None, seed) for _, seed in asked[1:])]
        assert {seed for n, seed in asked if n is None} == set(range(5 + gives, 8))
        all_there = asyncio.Barrier(2)
        await chat.complete(ASK, n=2)
    assert all(n is None for n, _ in asked[1:]), "it is not tried again"


async def test_a_batch_returns_what_arrived(serve: Serve) -> None:
    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        return answer() if body["seed"] % 2 and "n" not in body else web.Response(status=400, text="no")

    async with client(await serve({"POST /v1/chat/completions": complete})) as chat:
        assert len(await chat.complete(ASK, n=4, seed=0)) == 2


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_server_is_asked_again(serve: Serve, status: int) -> None:
    calls: list[int] = []

    async def complete(request: web.Request) -> web.Response:
        calls.append(1)
        return answer() if len(calls) == 3 else web.Response(status=status)

    async with client(await serve({"POST /v1/chat/completions": complete})) as chat:
        assert await chat.complete(ASK) == [Completion("Yes.", "stop")]
    assert len(calls) == 3


async def test_a_server_that_stays_busy_is_unavailable(serve: Serve) -> None:
    async def complete(request: web.Request) -> web.Response:
        return web.Response(status=503)

    async with client(await serve({"POST /v1/chat/completions": complete}), attempts=2) as chat:
        with pytest.raises(ModelUnavailable, match=r"answers 503 \(2 tries\)"):
            await chat.complete(ASK, n=2)


async def test_retry_after_is_honoured(serve: Serve) -> None:
    clock = TurnedClock()
    calls: list[int] = []

    async def complete(request: web.Request) -> web.Response:
        calls.append(1)
        if len(calls) == 3:
            return answer()
        return web.Response(status=429, headers={"Retry-After": ("7", "99999")[len(calls) - 1]})

    async with client(await serve({"POST /v1/chat/completions": complete}), clock=clock) as chat:
        await chat.complete(ASK)
    assert clock.slept == [7, endpoint.BACKOFF.longest_s]


async def test_nobody_listening_is_unavailable() -> None:
    async with client(f"http://127.0.0.1:{unused_port()}", attempts=2) as chat:
        with pytest.raises(ModelUnavailable, match=r"can't be reached.*\(2 tries\)"):
            await chat.complete(ASK)
        assert not await chat.healthy()


async def test_no_answer_in_time_is_unavailable_and_not_tried_again(serve: Serve) -> None:
    calls: list[int] = []

    async def complete(request: web.Request) -> web.Response:
        calls.append(1)
        await asyncio.Event().wait()
        return answer()

    async with client(await serve({"POST /v1/chat/completions": complete}), timeout_s=0.1) as chat:
        with pytest.raises(ModelUnavailable, match="no answer within"):
            await chat.complete(ASK)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, "bad grammar"),
        (401, f"wrong key {KEY}"),
        (302, ""),
        (200, "not json"),
        (200, "[1]"),
        (200, "{}"),
        (200, '{"choices": []}'),
        (200, '{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}'),
    ],
)
async def test_an_answer_of_no_use_is_refused_at_once(serve: Serve, status: int, body: str) -> None:
    calls: list[int] = []

    async def complete(request: web.Request) -> web.Response:
        calls.append(1)
        return web.Response(status=status, text=body, content_type="application/json")

    async with client(await serve({"POST /v1/chat/completions": complete})) as chat:
        with pytest.raises(ModelRefused) as refused:
            await chat.complete(ASK)
    assert len(calls) == 1
    assert KEY not in str(refused.value)


async def test_a_cut_connection_is_tried_again(serve: Serve) -> None:
    calls: list[int] = []

    async def complete(request: web.Request) -> web.Response:
        calls.append(1)
        if len(calls) == 1:
            assert request.transport is not None
            request.transport.abort()
        return answer()

    async with client(await serve({"POST /v1/chat/completions": complete})) as chat:
        assert len(await chat.complete(ASK)) == 1


async def test_cancellation_closes_every_request_of_the_batch(serve: Serve) -> None:
    arrived, closed = asyncio.Semaphore(0), asyncio.Semaphore(0)

    async def complete(request: web.Request) -> web.Response:
        if "n" in await request.json():
            return web.Response(status=400)
        arrived.release()
        try:
            await asyncio.Event().wait()
        finally:  # the test server cancels a handler whose client has gone
            closed.release()
        return answer()

    async with client(await serve({"POST /v1/chat/completions": complete})) as chat:
        completion = asyncio.create_task(chat.complete(ASK, n=2))
        for _ in range(2):
            await arrived.acquire()
        completion.cancel()
        with pytest.raises(asyncio.CancelledError):
            await completion
        async with asyncio.timeout(60):
            for _ in range(2):
                await closed.acquire()


@pytest.mark.parametrize(
    ("health", "models", "healthy"),
    [
        (200, 500, True),
        (503, 200, False),
        (404, 200, True),
        (404, 401, False),
        (401, 200, True),
    ],
)
async def test_health_asks_the_server_and_falls_back_to_its_models(
    serve: Serve, health: int, models: int, healthy: bool
) -> None:
    async def at_health(request: web.Request) -> web.Response:
        return web.Response(status=health)

    async def at_models(request: web.Request) -> web.Response:
        return web.Response(status=models)

    async with client(await serve({"GET /health": at_health, "GET /v1/models": at_models})) as chat:
        assert await chat.healthy() is healthy


async def test_the_key_and_credentials_show_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    base = f"http://ana:hunter2pw@127.0.0.1:{unused_port()}/v1"
    chat = ChatClient(base, "tiny", SecretStr(KEY), 1.0, 1)
    async with chat:
        with pytest.raises(ModelUnavailable) as away:
            await chat.complete(ASK)
    shown = f"{chat!r} {chat._endpoint!r} {away.value} {away.value!r} {caplog.text}"
    assert KEY not in shown
    assert "hunter2pw" not in shown


def test_an_address_that_is_none_is_a_bad_setting() -> None:
    with pytest.raises(BadSettings, match="not a url"):
        ChatClient("not a url", "tiny", None, 1.0, 1)
