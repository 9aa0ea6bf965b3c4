"""Replies in words on file: what is said, in which order, and that many posts don't get one text."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from core.domain import AttackKind, Claim, CounterClaim, Evidence, Intent
from pipeline.answers import Answer, answers
from pipeline.guard import Guard, GuardContext
from tests.factories import make_evidence, make_post

COUNTERS = {
    Intent.INFORMATIVE: (
        "Zorblaxians work in every trade.",
        "Zorblaxians pay their way.",
        "Towns live by their people.",
    ),
    Intent.DENOUNCING: ("To blame a whole people is unjust.",),
}
CLAIM = Claim(
    id="migrants-lazy",
    kind=AttackKind.CLAIM,
    gist="Zorblaxians don't work.",
    counter_claims=tuple(
        CounterClaim(intent=intent, text=text) for intent, texts in COUNTERS.items() for text in texts
    ),
)
OTHER = CLAIM.model_copy(update={"id": "migrants-dear", "counter_claims": CLAIM.counter_claims[:1]})


def fact(name: str, text: str = "", *, claims: tuple[str, ...] = (CLAIM.id,), language: str = "en") -> Evidence:
    told = text or f"The Harbour Survey counted the {name} of Zorblaxians in 2020."
    evidence = make_evidence(name, told, language=language)
    return evidence.model_copy(update={"claims": claims, "short": f"{name} are counted."})


FACTS = (fact("jobs"), fact("taxes"), fact("shops"))


def context(
    key: str = "1", intent: Intent = Intent.INFORMATIVE, facts: tuple[Evidence, ...] = FACTS, language: str = "en"
) -> GuardContext:
    post = make_post(key, "zorblaxians never work a day", platform="forum")
    return GuardContext(post=post, language=language, intent=intent, evidence=facts, claims=(CLAIM, OTHER))


def listed(ctx: GuardContext, limit: int = 500, number: int = 1) -> list[Answer]:
    return list(answers(ctx, limit, number))


def test_every_answer_is_a_counter_claim_of_the_intent_and_a_fact_of_the_claim() -> None:
    told = {form for fact in FACTS for form in (fact.text, fact.short)}
    replies = listed(context(intent=Intent.DENOUNCING))
    blame = "To blame a whole people is unjust."
    assert {reply.text for reply in replies if reply.text.startswith(blame)} == {f"{blame} {text}" for text in told}
    assert {reply.text for reply in replies if reply.text.endswith(blame)} == {f"{text} {blame}" for text in told}
    assert {(reply.claim, reply.fact) for reply in replies} == {(CLAIM.id, item.id) for item in FACTS}


@pytest.mark.parametrize(("facts", "both"), [(FACTS, True), ((*FACTS, fact("roofs")), False)])
def test_a_fact_comes_first_only_where_there_are_few_replies(facts: tuple[Evidence, ...], both: bool) -> None:
    openings = {reply.text.split(". ")[0] for reply in listed(context(facts=facts))}
    assert "Zorblaxians pay their way" in openings
    assert any(opening.startswith("The Harbour Survey") for opening in openings) == both


def test_a_counter_claim_that_points_back_never_follows_a_fact() -> None:
    pointing = CounterClaim(intent=Intent.DENOUNCING, text="This blames a whole people.")
    claim = CLAIM.model_copy(update={"counter_claims": (pointing,)})
    replies = listed(replace(context(intent=Intent.DENOUNCING), claims=(claim,)))
    assert replies and all(reply.text.startswith(pointing.text) for reply in replies)


def test_what_was_said_comes_last_and_what_was_said_together_not_at_all() -> None:
    ctx = context()
    first = listed(ctx)[0]
    for earlier in (
        replace(ctx, avoid=(first.text,)),
        replace(ctx, post=ctx.post.model_copy(update={"context": (first.text,)})),
    ):
        replies = listed(earlier)
        said = [counter for counter in COUNTERS[Intent.INFORMATIVE] if counter in first.text]
        repeated = [(reply.fact == first.fact) + (said[0] in reply.text) for reply in replies]
        assert repeated == sorted(repeated)
        assert set(repeated) == {0, 1}


def test_answers_to_the_surest_claim_come_first() -> None:
    facts = (fact("towns", claims=(OTHER.id,)), *FACTS)
    claims = [reply.claim for reply in listed(context(facts=facts))]
    assert claims == sorted(claims, key=[CLAIM.id, OTHER.id].index)
    assert set(claims) == {CLAIM.id, OTHER.id}


def test_a_tight_limit_gets_the_short_form_and_a_tighter_one_nothing() -> None:
    replies = listed(context(), limit=70)
    assert replies
    assert all(len(reply.text) <= 70 and "are counted." in reply.text for reply in replies)
    assert listed(context(), limit=40) == []


@pytest.mark.parametrize("language", ["es", "und"])
def test_a_fact_speaks_the_language_of_the_reply_or_is_not_said(language: str) -> None:
    assert bool(listed(context(language=language))) == (language == "und")


def test_a_redraft_is_another_text_and_the_same_draft_the_same() -> None:
    first, again, second = listed(context())[0], listed(context())[0], listed(context(), number=2)[0]
    assert first == again
    assert first.text != second.text


def test_two_hundred_posts_with_one_claim_do_not_get_one_text() -> None:
    first = Counter(next(answers(context(str(key)), 500, 1)).text for key in range(200))
    assert max(first.values()) <= 20


async def test_words_on_file_pass_every_hard_check_though_the_evidence_has_none_of_them(guard: Guard) -> None:
    ctx = context()
    for reply in listed(ctx):
        assert [check for check in await guard.check(reply.text, ctx) if check.hard and not check.passed] == []
    foreign = "Zorblaxians own 80% of the harbour. " + FACTS[0].text
    assert not all(check.passed for check in await guard.check(foreign, ctx) if check.hard)


def test_a_headline_is_told_only_where_the_whole_fact_does_not_fit() -> None:
    counted = FACTS[0].model_copy(update={"short": "Harbour, 2020: jobs counted."})
    ctx = context(facts=(counted,))
    assert not any(": " in reply.text for reply in listed(ctx))
    assert {": " in reply.text for reply in listed(ctx, limit=len("Zorblaxians work in every trade. ") + 40)} == {True}


def test_a_counter_claim_and_a_fact_that_say_one_thing_come_last() -> None:
    same = fact("trades", "Zorblaxians work in every trade, says the Harbour Survey.")
    told = [reply.text for reply in listed(context(facts=(*FACTS, same)))]
    repeating = [f"Zorblaxians work in every trade. {form}" for form in (same.text, same.short)]
    assert sorted(told[-2:]) == sorted(repeating)
