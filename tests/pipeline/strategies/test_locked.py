"""`locked`: the model's sentence, the fact it picked by number, and what is not taken from it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from core.domain import DraftRequest, Evidence, FlaggedPost, Intent, Plan, TargetGroup
from core.settings import GuardSettings, LockedSettings
from models.turns import Turns
from pipeline.grammar import sentence_and_fact
from pipeline.guard import GuardContext
from pipeline.languages import packs
from pipeline.strategies import LockedStrategy, Proposed, Writer
from tests.factories import make_evidence, make_post
from tests.models.scripted_chat import ScriptedChat

STANCE = "Nobody decides that for women."


@pytest.fixture
def context(post: FlaggedPost, evidence: tuple[Evidence, ...]) -> GuardContext:
    return GuardContext(post=post, language="en", evidence=evidence, groups=(TargetGroup.WOMEN,))


async def proposed(context: GuardContext, *answers: str) -> Proposed:
    strategy = LockedStrategy(Writer(ScriptedChat(*answers), Turns(1, 30.0), GuardSettings()), LockedSettings())
    return await strategy.propose(context, Plan(strategy="locked"), DraftRequest())


async def test_the_fact_follows_in_its_own_words(context: GuardContext) -> None:
    ((reply,),) = (await proposed(context, f"{STANCE} [2]")).rounds
    assert reply.text == f"{STANCE} {context.evidence[1].text}"
    assert reply.facts == (context.evidence[1].id,)


async def test_a_tight_platform_gets_the_short_form(context: GuardContext) -> None:
    short, long = "The treaty says so.", "The treaty says so at length, " + "again and again, " * 12 + "as it stands."
    fact = make_evidence(text=long).model_copy(update={"short": short})
    tight = replace(context, post=make_post(text="they have no say", platform="twitter"), evidence=(fact,))
    ((reply,),) = (await proposed(tight, f"{STANCE} [1]")).rounds
    assert reply.text == f"{STANCE} {short}"


async def test_a_paragraph_is_told_by_a_sentence_that_stands_alone(context: GuardContext) -> None:
    paragraph = make_evidence(text="The Convention protects women in public life. It was signed by many states there.")
    ((reply,),) = (await proposed(replace(context, evidence=(paragraph,)), f"{STANCE} [1]")).rounds
    assert reply.text == f"{STANCE} The Convention protects women in public life."


@pytest.mark.parametrize(
    "answer",
    ["", STANCE, f"{STANCE} [9]", f"{STANCE} [0]", "In 1979 it was decided. [1]", "[1]", "no end [1]"],
    ids=["nothing", "no number", "too high", "zero", "a figure", "no sentence", "no full stop"],
)
async def test_what_is_no_sentence_with_a_fact_is_not_taken(context: GuardContext, answer: str) -> None:
    nothing = await proposed(context, answer)
    assert nothing.rounds == ()
    assert nothing.note == "The model gave no sentence with the number of a fact."


async def test_a_sentence_that_retells_a_fact_is_not_taken(context: GuardContext) -> None:
    retold = f"{context.evidence[0].text.removesuffix('.')}, as everybody knows. [2]"
    nothing = await proposed(context, retold)
    assert nothing.rounds == ()
    assert nothing.note == "The model only retold facts."
    ((reply,),) = (await proposed(context, retold, f"{STANCE} [2]")).rounds
    assert reply.text.startswith(STANCE)


async def test_evidence_in_another_language_is_no_fact_to_lock(context: GuardContext) -> None:
    spanish = tuple(piece.model_copy(update={"language": "es"}) for piece in context.evidence)
    assert "lacks a model or a fact" in (await proposed(replace(context, evidence=spanish), f"{STANCE} [1]")).note


@pytest.mark.parametrize("language", ["en", "es", "it", "eu", "de"])
@pytest.mark.parametrize("intent", list(Intent))
async def test_the_language_is_named_and_has_an_example_where_there_is_one(
    context: GuardContext, language: str, intent: Intent
) -> None:
    facts = tuple(piece.model_copy(update={"language": language}) for piece in context.evidence)
    chat = ScriptedChat(f"{STANCE} [1]")
    strategy = LockedStrategy(Writer(chat, Turns(1, 30.0), GuardSettings()), LockedSettings())
    spoken = replace(context, language=language, intent=intent, evidence=facts)
    await strategy.propose(spoken, Plan(), DraftRequest())
    _, example, answer, task = chat.asked[0]["messages"]
    assert f"one sentence in {packs()[language].name}" in task.content
    assert packs()[language if language != "de" else "en"].name in example.content
    assert answer.content.endswith(" [1]")
    assert chat.asked[0]["n"] == 4


def test_the_grammar_has_no_digit_but_the_facts_number() -> None:
    rules = dict(line.split(" ::= ", 1) for line in sentence_and_fact(200, 3, "en").splitlines() if line)
    assert rules["root"] == 'sentence " [" ("1" | "2" | "3") "]"'
    assert not re.search(r"\d", rules["chunk"].removesuffix("{1,30}"))
    assert "[0-9]" not in "".join(rules.values())
