"""Every claim on file is answered in every intent and language, and the guard lets the answers through."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from core.domain import AttackKind, Intent, TargetGroup
from core.settings import GuardSettings
from kb.claims.facts import claim_of, evidence_of
from kb.claims.loading import load_claims
from kb.claims.records import LANGUAGES, Language
from kb.claims.reviews import Reviews
from kb.claims.two_groups import naming_both, two_groups
from pipeline.answers import answers
from pipeline.guard import Guard, GuardContext, limit_for
from tests.factories import make_post

FILES, NOTHING_READ = load_claims(), Reviews()


def context(name: str, language: Language, intent: Intent, platform: str) -> GuardContext:
    filed = FILES.claims[name]
    facts = tuple(evidence_of(FILES.facts[fact], language, (name,), NOTHING_READ) for fact in filed.facts)
    post = make_post(name, filed.wordings[language][0], platform=platform)
    return GuardContext(
        post=post,
        language=language,
        intent=intent,
        evidence=facts,
        groups=(FILES.group_of(filed),),
        claims=(claim_of(filed, language, 0.9, NOTHING_READ),),
    )


async def failures(guard: Guard, language: Language, platform: str, turns: range) -> list[tuple[str, str]]:
    """Return the first answers that fail a hard check, with its detail; each turn takes another intent a claim."""
    failed = []
    for number, name in enumerate(FILES.claims):
        for intent in (list(Intent)[(number + turn) % len(Intent)] for turn in turns):
            ctx = context(name, language, intent, platform)
            reply = next(answers(ctx, limit_for(platform, GuardSettings()), 1)).text
            failed += [
                (reply, check.detail) for check in await guard.check(reply, ctx) if check.hard and not check.passed
            ]
    return failed


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_first_answer_to_every_claim_passes_every_hard_check(guard: Guard, language: Language) -> None:
    # One intent a claim, by turns, and the tightest platform by turns of languages: there are thousands of replies.
    platform = ("forum", "twitter")[LANGUAGES.index(language) % 2]
    assert await failures(guard, language, platform, range(1)) == []


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("platform", ["forum", "twitter"])
async def test_the_answers_to_every_claim_in_every_intent_pass(guard: Guard, language: Language, platform: str) -> None:
    assert await failures(guard, language, platform, range(len(Intent))) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("platform", ["forum", "twitter"])
async def test_an_answer_that_names_two_groups_passes_every_hard_check(
    guard: Guard, language: Language, platform: str
) -> None:
    failed = []
    insults = {FILES.group_of(claim): claim for claim in FILES.claims.values() if claim.kind is AttackKind.INSULT}
    pairs = [pair for pair in permutations(two_groups().people[language], 2) if pair[1] is not TargetGroup.WOMEN]
    for number, (first, second) in enumerate(pairs):
        filed = naming_both(insults[first], [first, second], [second], FILES)
        facts = tuple(evidence_of(FILES.facts[fact], language, (filed.id,), NOTHING_READ) for fact in filed.facts)
        ctx = replace(
            context(filed.id, language, list(Intent)[number % len(Intent)], platform),
            evidence=facts,
            groups=(first, second),
            claims=(claim_of(filed, language, 0.9, NOTHING_READ),),
        )
        reply = next(answers(ctx, limit_for(platform, GuardSettings()), 1)).text
        assert two_groups().people[language][second] in reply
        failed += [(reply, check.detail) for check in await guard.check(reply, ctx) if check.hard and not check.passed]
    assert failed == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_claim_has_an_answer_that_fits_the_tightest_platform(language: Language) -> None:
    limit = limit_for("twitter", GuardSettings())
    without = [
        (name, intent)
        for name in FILES.claims
        for intent in Intent
        if next(answers(context(name, language, intent, "twitter"), limit, 1), None) is None
    ]
    assert without == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_author_of_many_posts_gets_another_text_each_time(guard: Guard, language: Language) -> None:
    said: list[str] = []
    ctx = context("jews-exclusion", language, Intent.INFORMATIVE, "forum")
    for number in range(6):
        post = make_post(number, ctx.post.text, platform="forum")
        again = replace(ctx, post=post, avoid=tuple(said))
        reply = next(answers(again, 500, 1)).text
        assert [check.detail for check in await guard.check(reply, again) if check.hard and not check.passed] == []
        said.append(reply)
    assert len(set(said)) == 6


def test_what_moderators_prefer_comes_first_and_still_takes_turns() -> None:
    name = next(claim.id for claim in FILES.claims.values() if claim.common and len(claim.facts) > 2)
    ctx = context(name, "en", Intent.INFORMATIVE, "forum")
    liked = ctx.evidence[-1].model_copy(update={"preference": 2.0})
    ranked = replace(ctx, evidence=(*ctx.evidence[:-1], liked))
    firsts = [next(answers(replace(ranked, post=make_post(number, ctx.post.text)), 500, 1)) for number in range(40)]
    assert {answer.fact for answer in firsts} == {liked.id}
    assert len({answer.text for answer in firsts}) > 3
