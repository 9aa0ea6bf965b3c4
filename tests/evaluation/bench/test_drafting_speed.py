"""What each way costs with a scripted server, what the table says, and that the papers ask for one thing at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner

from core.domain import FlaggedPost, StrategyName
from core.errors import BadSettings
from core.settings import ChatSettings
from evaluation.bench import drafting_speed
from evaluation.bench.command import bench
from evaluation.bench.drafting_speed import SEQUENTIAL, Cost, OneByOne, Timed, Way, bench_settings, measure, table
from models.chat import Completion, Message
from models.engine_arguments import Weights
from tests.factories import make_post
from tests.models.scripted_chat import ObedientChat, ScriptedChat

PLANNED_AND_WRITTEN = {
    SEQUENTIAL.name: 3 * 150 + 150,
    "compose": 0,
    "locked": 4 * 60,
    "free": 4 * 150,
    "plain": 150,  # facts on file are their own summaries
    "claim-guided": 520 + 150,
    "intent-frames": 420 + 150,
}
"""Tokens of one draft, those of its plan among them."""


class Counting(ScriptedChat):
    """A scripted model that counts how many requests it has at once."""

    at_once = most = 0

    async def complete(self, messages: Sequence[Message], **asked: Any) -> list[Completion]:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return await super().complete(messages, **asked)


async def test_the_papers_pipeline_asks_one_thing_at_a_time() -> None:
    chat = Counting("Yes.")
    asking = OneByOne(chat)
    await asyncio.gather(*(asking.complete([Message("user", "?")], max_tokens=5) for _ in range(3)))
    assert (chat.most, len(chat.asked)) == (1, 3)


def test_each_way_is_a_multiple_of_the_papers() -> None:
    locked = Way("locked", StrategyName.LOCKED, 1)
    costs = [Cost(SEQUENTIAL, 4, 4, 1, 60, 15, 500, 300, 54, 0.5), Cost(locked, 8, 4, 4, 15, 3.6, 150, 100, 12, 0.5)]
    lines = table(costs).splitlines()
    assert lines[2].split("|")[2:6] == [" 4 ", " 4.0 ", " 1.0 ", " 15.0 "]
    assert lines[3].split("|")[1:] == [
        " locked ", " 8 ", " 16.0 ", " 4.0 ", " 3.6 ", " 150 ", " 100 ", " 4/4 ", " 80% ", " 0.5 ", "",
    ]  # fmt: skip


class Slow(ScriptedChat):
    """A scripted model whose requests take as many seconds of a turned clock as their last message says."""

    def __init__(self) -> None:
        super().__init__("Yes.")
        self.now = 0.0
        self.done: dict[float, asyncio.Event] = {}

    async def complete(self, messages: Sequence[Message], **asked: Any) -> list[Completion]:
        until = self.now + float(messages[-1].content)
        await self.done.setdefault(until, asyncio.Event()).wait()
        return await super().complete(messages, **asked)

    async def turn_to(self, now: float) -> None:
        self.now = now
        self.done.setdefault(now, asyncio.Event()).set()
        for _ in range(5):
            await asyncio.sleep(0)


async def test_time_that_requests_share_is_busy_once_and_time_without_any_is_not() -> None:
    chat = Slow()
    timed = Timed(chat, lambda: chat.now)

    async def ask(seconds: int) -> None:
        await timed.complete([Message("user", str(seconds))], max_tokens=5)

    async with asyncio.TaskGroup() as asking:
        asking.create_task(ask(4))
        await asyncio.sleep(0)
        await chat.turn_to(1)
        asking.create_task(ask(5))
        await asyncio.sleep(0)
        await chat.turn_to(4)
        await chat.turn_to(6)
        assert timed.busy_s == 6
        await chat.turn_to(10)
        asking.create_task(ask(2))
        await asyncio.sleep(0)
        await chat.turn_to(12)
    assert timed.busy_s == 8


class ScriptedServer:
    """A stand-in for the model's server: a scripted model over HTTP that counts all tokens that it is allowed."""

    def __init__(self, *_: object) -> None:
        self.chat = ObedientChat("Women vote. They always will.")
        app = web.Application()
        app.add_routes([web.post("/v1/chat/completions", self._complete), web.get("/metrics", self._metrics)])
        self._server = TestServer(app)

    @property
    def endpoint(self) -> str:
        return str(self._server.make_url("/v1"))

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._server.close()

    async def _complete(self, request: web.Request) -> web.Response:
        asked = await request.json()
        completions = await self.chat.complete(
            [Message(message["role"], message["content"]) for message in asked["messages"]],
            n=asked.get("n", 1), max_tokens=asked["max_tokens"], grammar=asked.get("grammar"),
        )  # fmt: skip
        choices = [
            {"message": {"role": "assistant", "content": done.text}, "finish_reason": "stop"} for done in completions
        ]
        return web.json_response({"choices": choices})

    async def _metrics(self, request: web.Request) -> web.Response:
        lines = (
            f"llamacpp:prompt_tokens_total {len(self.chat.asked)}\nllamacpp:tokens_predicted_total {self.chat.tokens}\n"
        )
        return web.Response(text=lines)


def posts(count: int) -> list[FlaggedPost]:
    return [make_post(number, "women have no business in politics") for number in range(count)]


async def test_each_strategy_plans_before_it_writes_and_both_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafting_speed, "LlamaServer", ScriptedServer)
    monkeypatch.setattr(drafting_speed, "load_posts", posts)
    costs = await measure(1, bench_settings("smollm2-135m", 1, tmp_path), list(StrategyName))
    written = {cost.way.name: cost.written for cost in costs}
    tournament = written.pop("tournament")
    assert written == PLANNED_AND_WRITTEN
    entrants = [name for name in PLANNED_AND_WRITTEN if name != SEQUENTIAL.name]
    assert tournament > sum(PLANNED_AND_WRITTEN[name] for name in entrants), "all others enter, with their plans"
    assert [cost.drafts for cost in costs] == [1] * 8


async def test_each_number_of_slots_gets_a_server_and_the_papers_are_measured_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[int, str]] = []

    class Noted(ScriptedServer):
        def __init__(self, chat: ChatSettings, weights: Weights, log_file: Path) -> None:
            super().__init__()
            started.append((chat.slots, weights.model.name))

    monkeypatch.setattr(drafting_speed, "LlamaServer", Noted)
    monkeypatch.setattr(drafting_speed, "load_posts", posts)
    settings, random = bench_settings("smollm2-135m", 1, tmp_path), tmp_path / "random.gguf"
    costs = await measure(2, settings, [StrategyName.LOCKED], slots=(8, 32), weights=random)
    assert started == [(8, "random.gguf"), (32, "random.gguf")]
    assert [(cost.way.name, cost.slots, cost.way.at_once) for cost in costs] == [
        (SEQUENTIAL.name, 8, 1), ("locked", 8, 2), ("locked", 32, 8),
    ]  # fmt: skip
    assert all(0 < cost.busy <= 1 for cost in costs)


@pytest.mark.parametrize(
    ("given", "said"), [(False, "smollm2-135m, a queue"), (True, "with the weights shape.gguf, a q")]
)
def test_the_heading_names_the_weights_that_were_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: bool, said: str
) -> None:
    async def nothing(*_: object) -> list[Cost]:
        return []

    monkeypatch.setattr(drafting_speed, "measure", nothing)
    monkeypatch.setattr(drafting_speed, "table", lambda _: "")
    (shape := tmp_path / "shape.gguf").touch()
    arguments = ["--model", "smollm2-135m", *(["--weights", str(shape)] if given else [])]
    result = CliRunner().invoke(bench, ["drafts", *arguments], catch_exceptions=False)
    assert said in result.output


@pytest.mark.parametrize(("engine", "option"), [("xllamacpp", "endpoint_metrics=true"), ("llama-server", "--metrics")])
def test_the_server_is_as_configured_and_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, option: str
) -> None:
    monkeypatch.setenv("REJOINDER_CHAT__ENGINE", engine)
    monkeypatch.setenv("REJOINDER_CHAT__GPU_LAYERS", "all")
    chat = bench_settings("smollm2-135m", 1, tmp_path).chat
    assert (chat.engine, chat.gpu_layers, chat.server_args) == (engine, "all", (option,))


def test_an_engine_that_counts_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REJOINDER_CHAT__ENGINE", "llama-cpp-python")
    with pytest.raises(BadSettings, match="counts no tokens"):
        bench_settings("smollm2-135m", 1, tmp_path)
