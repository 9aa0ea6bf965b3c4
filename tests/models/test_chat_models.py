"""One conformance suite over the chat models: in memory, over HTTP, and a real llama.cpp process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from core.errors import ModelUnavailable
from core.settings import ChatSettings
from models.chat import ChatClient, ChatModel, Completion, Message
from models.llama_server import LlamaServer
from tests.core.turned_clock import TurnedClock
from tests.models.scripted_chat import ScriptedChat
from tests.ports import unused_port

Serve = Callable[[dict[str, Callable[[web.Request], Awaitable[web.Response]]]], Awaitable[str]]
ASK = [Message("system", "Answer briefly."), Message("user", "Is the harbour open?")]


async def answer(request: web.Request) -> web.Response:
    choice = {"message": {"role": "assistant", "content": "It is."}, "finish_reason": "stop"}
    return web.json_response({"choices": [choice]})


@asynccontextmanager
async def llama(smollm2: Path, log_file: Path) -> AsyncIterator[ChatClient]:
    settings = ChatSettings(model="smollm2-135m", slots=2, threads=1)
    async with (
        LlamaServer(settings, smollm2, log_file) as server,
        ChatClient(server.endpoint, settings.model, None, 60.0, 3) as client,
    ):
        yield client


@pytest.fixture(params=["in memory", "over HTTP", pytest.param("llama.cpp", marks=pytest.mark.live)])
async def chat(request: pytest.FixtureRequest, serve: Serve, tmp_path: Path) -> AsyncIterator[ChatModel]:
    if request.param == "in memory":
        yield ScriptedChat("It is.", "Yes.")
    elif request.param == "over HTTP":
        base = await serve({"POST /v1/chat/completions": answer})
        async with ChatClient(f"{base}/v1", "tiny", None, 5.0, 1) as client:
            yield client
    else:
        async with llama(request.getfixturevalue("smollm2"), tmp_path / "server.log") as client:
            yield client


@pytest.fixture(params=["in memory", "over HTTP"])
async def absent_chat(request: pytest.FixtureRequest) -> AsyncIterator[ChatModel]:
    if request.param == "in memory":
        yield ScriptedChat(error=ModelUnavailable("The scripted model is away."))
    else:
        async with ChatClient(f"http://127.0.0.1:{unused_port()}/v1", "tiny", None, 1.0, 2, TurnedClock()) as client:
            yield client


async def test_it_has_a_name(chat: ChatModel) -> None:
    assert chat.model and isinstance(chat.model, str)


@pytest.mark.parametrize("n", [1, 2])
async def test_it_returns_at_least_one_completion_and_at_most_those_asked_for(chat: ChatModel, n: int) -> None:
    completions = await chat.complete(ASK, n=n, max_tokens=8)
    assert 1 <= len(completions) <= n
    assert all(isinstance(completion, Completion) and completion.text for completion in completions)
    assert {completion.finish_reason for completion in completions} <= {"stop", "length"}


async def test_every_setting_may_be_given(chat: ChatModel) -> None:
    completions = await chat.complete(
        ASK, n=1, temperature=0.0, max_tokens=8, grammar='root ::= "It is." | "Yes."', seed=7, stop=["\n"]
    )
    assert completions[0].text in ("It is.", "Yes.")


async def test_a_model_that_is_away_is_unavailable(absent_chat: ChatModel) -> None:
    with pytest.raises(ModelUnavailable):
        await absent_chat.complete(ASK)
