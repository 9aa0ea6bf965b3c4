"""What every strategy must hold to, whatever it proposes."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain import DraftRequest, Evidence, FlaggedPost, Intent, Origin, Plan, TargetGroup, Triage
from core.errors import ModelRefused, ModelUnavailable, TooSlow
from pipeline.guard import GuardContext
from pipeline.strategies import Proposal, Strategy, tidy
from tests.factories import make_evidence, make_triage
from tests.models.scripted_chat import ObedientChat, ScriptedChat
from tests.pipeline.strategies.kinds import (
    ANSWERS,
    BAD_CASES,
    GARBAGE,
    HOSTILE,
    INJECTION,
    KINDS,
    PARAGRAPH,
    Kind,
    Silent,
)


@pytest.fixture(params=KINDS)
def name(request: pytest.FixtureRequest) -> str:
    given: str = request.param
    return given


@pytest.fixture
def kind(name: str) -> Kind:
    return KINDS[name]


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the secret mark around posts a known one."""
    monkeypatch.setattr("pipeline.prompt.new_mark", lambda: "post-0123456789ab")


@pytest.fixture
def context(post: FlaggedPost, evidence: tuple[Evidence, ...]) -> GuardContext:
    return GuardContext(post=post, language="en", evidence=evidence, groups=(TargetGroup.WOMEN,))


async def proposals(
    strategy: Strategy, context: GuardContext, request: DraftRequest | None = None, plan: Plan | None = None
) -> tuple[tuple[Proposal, ...], ...]:
    """Return the rounds that a strategy proposes on a plan of its own, or on another."""
    try:
        own = plan or await strategy.plan(context.post, make_triage(TargetGroup.WOMEN, language=context.language))
    except (ModelUnavailable, ModelRefused):
        own = Plan(strategy=strategy.name)
    return (await strategy.propose(context, own, request or DraftRequest())).rounds


async def test_a_plan_carries_the_strategys_name_and_survives_the_wire(
    kind: Kind, post: FlaggedPost, triage: Triage
) -> None:
    strategy = kind(ObedientChat(*ANSWERS))
    plan = await strategy.plan(post, triage)
    assert plan.strategy == strategy.name
    assert Plan.model_validate_json(plan.model_dump_json()) == plan


async def test_without_a_model_the_same_case_gives_the_same(
    kind: Kind, post: FlaggedPost, triage: Triage, context: GuardContext
) -> None:
    first, second = kind(None), kind(None)
    assert await first.plan(post, triage) == await second.plan(post, triage)
    rounds = await proposals(first, context)
    assert rounds == await proposals(second, context)
    assert bool(rounds) is not first.writes_with_model


async def test_proposals_are_tidy_differ_and_name_their_writer(kind: Kind, context: GuardContext) -> None:
    rounds = await proposals(kind(ObedientChat(*ANSWERS)), context)
    assert rounds
    for proposed in rounds:
        assert len({proposal.text for proposal in proposed}) == len(proposed) > 0
        for proposal in proposed:
            assert proposal.text == tidy(proposal.text)
            assert bool(proposal.model) is (proposal.origin is Origin.MODEL)


@pytest.mark.parametrize("intent", list(Intent))
async def test_the_number_of_proposals_has_a_bound(kind: Kind, context: GuardContext, intent: Intent) -> None:
    plenty = replace(context, evidence=context.evidence * 20, intent=intent)
    assert sum(map(len, await proposals(kind(ObedientChat(*ANSWERS)), plenty))) <= kind.most


@pytest.mark.parametrize("language", ["en", "es", "und", "xx"])
async def test_without_evidence_nothing_is_raised(kind: Kind, context: GuardContext, language: str) -> None:
    for chat in (ObedientChat(*ANSWERS), None):
        bare = replace(context, evidence=(), groups=(), language=language)
        assert isinstance(await proposals(kind(chat), bare), tuple)


async def test_hostile_posts_and_odd_requests_are_no_trouble(kind: Kind, context: GuardContext) -> None:
    odd = DraftRequest(number=10_000, intent=Intent.DENOUNCING, hint="<|im_end|>" * 50, avoid=("",) * 20)
    rounds = await proposals(kind(ObedientChat(*ANSWERS)), replace(context, post=HOSTILE), odd)
    assert "im_start" not in str(rounds)


async def test_the_plan_of_another_strategy_is_no_trouble(kind: Kind, context: GuardContext) -> None:
    for plan in (Plan(), Plan(strategy="elsewhere", claims=("x",), counter_claim="y", queries=("z",))):
        assert isinstance(await proposals(kind(ObedientChat(*ANSWERS)), context, plan=plan), tuple)


@pytest.mark.parametrize("error", [ModelUnavailable("gone"), ModelRefused("too long")], ids=["away", "refusing"])
async def test_a_model_that_fails_is_raised_by_what_is_said_to_ask_it_alone(
    kind: Kind, post: FlaggedPost, triage: Triage, context: GuardContext, error: Exception
) -> None:
    strategy = kind(ScriptedChat(error=error))
    if strategy.plans_with_model:
        with pytest.raises(type(error)):
            await strategy.plan(post, triage)
    else:
        assert await strategy.plan(post, triage) == await kind(None).plan(post, triage)
    if strategy.writes_with_model:
        planned = await kind(ObedientChat(*ANSWERS)).plan(post, triage)
        with pytest.raises(type(error)):
            await proposals(strategy, context, plan=planned)
    else:
        assert await proposals(strategy, context) == await proposals(kind(None), context)


async def test_what_is_said_to_ask_no_model_asks_none(
    kind: Kind, post: FlaggedPost, triage: Triage, context: GuardContext
) -> None:
    chat = ObedientChat(*ANSWERS)
    strategy = kind(chat)
    await strategy.plan(post, triage)
    assert bool(chat.asked) is strategy.plans_with_model
    chat.asked.clear()
    await proposals(strategy, context)
    assert bool(chat.asked) is strategy.writes_with_model


def test_what_models_are_needed_for_does_not_depend_on_one_being_there(kind: Kind) -> None:
    given, none = kind(ScriptedChat()), kind(None)
    assert (given.plans_with_model, given.writes_with_model) == (none.plans_with_model, none.writes_with_model)


async def test_many_tasks_get_what_one_gets(kind: Kind, context: GuardContext) -> None:
    strategy = kind(ObedientChat(*ANSWERS))
    contexts = [replace(context, intent=intent) for intent in Intent] * 2
    alone = [await proposals(strategy, each) for each in contexts]
    assert await asyncio.gather(*(proposals(strategy, each) for each in contexts)) == alone


def with_paragraphs(context: GuardContext) -> GuardContext:
    """Return the context with paragraphs of three sentences, each of its own, that need a summary."""
    pieces = (make_evidence(f"p{number}", f"Part {number}. {PARAGRAPH}") for number in range(3))
    return replace(context, evidence=(*pieces, *context.evidence))


COST = r"Cost at most: plan (\d+) requests?, (\d+) tokens; draft (\d+) requests?, (\d+) tokens"


async def test_it_costs_what_its_docstring_says(
    name: str, kind: Kind, post: FlaggedPost, triage: Triage, context: GuardContext
) -> None:
    said = re.search(COST, " ".join((kind.of.__doc__ or "").split()))
    assert said, f"{kind.of.__name__} does not say what it costs"
    most = [int(number) for number in said.groups()]
    chat = ObedientChat(*ANSWERS)
    strategy = kind(chat)
    plan = await strategy.plan(post, triage)
    planning = (len(chat.asked), chat.tokens)
    chat.asked.clear()
    await strategy.propose(with_paragraphs(context), plan, DraftRequest())
    counted = [*planning, len(chat.asked), chat.tokens]
    assert all(count <= limit for count, limit in zip(counted, most, strict=True)), counted
    assert counted == most or name == "tournament", "only a tournament's cost depends on what the model answers"


async def test_its_prompts_are_those_on_file(
    name: str, kind: Kind, post: FlaggedPost, triage: Triage, context: GuardContext, marked: None
) -> None:
    chat = ObedientChat(*ANSWERS)
    strategy = kind(chat)
    plan = await strategy.plan(post, triage)
    await strategy.propose(with_paragraphs(context), plan, DraftRequest(hint="mention the vote"))
    if not chat.asked:
        return
    golden = Path(__file__).with_name("golden") / f"{name}.txt"
    first_of_a_kind = {asked["messages"][0].content: asked for asked in reversed(chat.asked)}
    written = "\n".join(_as_text(asked) for asked in chat.asked if asked in first_of_a_kind.values())
    if "REJOINDER_WRITE_GOLDEN" in os.environ:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(written, encoding="utf-8")
    assert written == golden.read_text(encoding="utf-8"), "run with REJOINDER_WRITE_GOLDEN=1 and read the difference"


def _as_text(asked: dict[str, Any]) -> str:
    told = "\n".join(f"[{message.role}]\n{message.content}" for message in asked["messages"])
    settings = f"n={asked['n']} temperature={asked['temperature']} max_tokens={asked['max_tokens']}"
    root = (asked["grammar"] or "none").splitlines()[0]
    return f"===== {settings}\n{told}\n[grammar]\n{root}"


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=list(GARBAGE))
async def test_whatever_a_model_answers_ends_in_a_bounded_number_of_proposals(
    kind: Kind, context: GuardContext, answer: str
) -> None:
    chat = ScriptedChat(*[answer] * 8)
    rounds = await proposals(kind(chat), context)
    assert sum(map(len, rounds)) <= kind.most
    assert len(chat.asked) < 200


@pytest.mark.parametrize("bad", BAD_CASES.values(), ids=list(BAD_CASES))
@pytest.mark.parametrize("hint", ["", INJECTION], ids=["no hint", "an injection in the hint"])
async def test_bad_input_reaches_no_model_as_more_than_data(
    kind: Kind, context: GuardContext, bad: dict[str, Any], hint: str
) -> None:
    chat = ObedientChat(*ANSWERS)
    rounds = await proposals(kind(chat), replace(context, **bad), DraftRequest(hint=hint))
    assert sum(map(len, rounds)) <= kind.most
    for asked in chat.asked:
        told = "".join(message.content for message in asked["messages"])
        assert len(told) < 6_500, "a context window of 2048 tokens must hold it"
        for token in ("<|im_start|>", "[INST]", "\nassistant:"):
            assert token not in told


async def test_a_model_that_never_answers_is_given_up_in_bounded_time(kind: Kind, context: GuardContext) -> None:
    strategy = kind(Silent(), seconds=0.05)
    if strategy.plans_with_model or strategy.writes_with_model:
        async with asyncio.timeout(5):
            with pytest.raises(TooSlow, match=f"{strategy.name} took longer than 0.05 s"):
                await strategy.plan(context.post, make_triage(TargetGroup.WOMEN))
                plan = Plan(strategy=strategy.name, counter_claim="Women vote.")
                await strategy.propose(context, plan, DraftRequest())
