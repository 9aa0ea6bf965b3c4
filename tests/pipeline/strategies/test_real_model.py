"""Each strategy with a real, small and weak model: it keeps its grammars and its bounds, whatever it writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import DraftRequest, FlaggedPost, Grounding, Origin, StrategyName, Triage
from core.settings import ChatSettings, DraftSettings, Settings, TournamentSettings
from models.chat import ChatClient, Message
from models.llama_server import LlamaServer
from pipeline.draft import Drafter
from pipeline.strategies import Strategies
from rejoinder.assembly import open_strategies
from rejoinder.guard_assembly import open_guard
from tests.factories import make_evidence, make_grounding

MODEL = "smollm2-135m"
SETTINGS = Settings(
    chat=ChatSettings(model=MODEL, timeout_s=240, threads=1),
    draft=DraftSettings(
        offered=tuple(StrategyName),
        timeout_s=400,
        tournament=TournamentSettings(seconds=360, tokens=3000, iterations=0, pool=2),
    ),
)
PARAGRAPH = (
    "The Convention obliges states to let women vote. They may stand for election on equal terms with men. "
    "They may also hold public office and work in associations that concern public life."
)

pytestmark = [pytest.mark.live, pytest.mark.slow]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def chat(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ChatClient]:
    log = tmp_path_factory.mktemp("strategies") / "server.log"
    async with (
        LlamaServer(SETTINGS.chat, smollm2, log) as server,
        ChatClient(server.endpoint, MODEL, None, 240, 3) as client,
    ):
        yield client


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", StrategyName)
async def test_a_real_model_plans_and_writes_within_bounds(
    name: StrategyName, chat: ChatClient, post: FlaggedPost, triage: Triage
) -> None:
    strategies = open_strategies(SETTINGS, chat)
    strategy = strategies.named(name)
    assert strategy
    plan = await strategy.plan(post, triage)
    grounding = Grounding(evidence=make_grounding(make_evidence(text=PARAGRAPH)).evidence, plan=plan)
    if name is StrategyName.CLAIM_GUIDED:
        assert sum(claim.votes for claim in plan.voted) == 5, "each vote was a number of the list"
        assert plan.counter_claim
        assert plan.queries
    if name is StrategyName.INTENT_FRAMES:
        assert len(plan.frames) == 7
    alone = Strategies(default=strategy, fallback=strategies.fallback)
    draft = await Drafter(alone, open_guard(SETTINGS)).draft(post, triage, grounding, DraftRequest())
    assert {candidate.strategy for candidate in draft.candidates} <= {name, "compose"}
    assert draft.origin is not Origin.NONE or draft.note
    if name not in (StrategyName.COMPOSE, StrategyName.TOURNAMENT):
        written = [candidate for candidate in draft.candidates if candidate.strategy == name]
        assert written or draft.note
        assert any(candidate.origin is Origin.MODEL for candidate in written) or "no sentence" in draft.note
    if name is StrategyName.TOURNAMENT:
        (duel,) = draft.duels
        assert duel.turned is not None
        assert all(0 <= score <= 10 for score in (*duel.in_order, *duel.turned))
        assert "Chosen of 2 replies in 1 duel," in draft.note


@pytest.mark.asyncio(loop_scope="module")
async def test_a_batch_comes_in_one_request(chat: ChatClient) -> None:
    answers = await chat.complete([Message("user", "Name an animal.")], n=4, max_tokens=8, temperature=1.5, seed=3)
    assert len(answers) == 4
    assert chat._takes_n, "the server gave all four at once"
    assert len({answer.text for answer in answers}) > 1, "each has a seed of its own"
