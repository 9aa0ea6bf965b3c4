from __future__ import annotations

from collections import Counter

import pytest

from core.domain import Evidence, Intent, TargetGroup
from core.settings import GuardSettings
from pipeline.compose import Composer, people, templates
from pipeline.guard import Guard, GuardContext
from tests.factories import make_evidence, make_post

LANGUAGES = ("en", "es", "it", "fr", "de")
PLATFORMS = ("twitter", "mastodon", "forum")
MOST_TOO_LONG = 0.03
"""Share of statements that may be too long for the shortest platform."""

DECLARATION = (
    "La Declaración Universal de Derechos Humanos dice que todas las personas nacen libres e iguales en dignidad.",
    "La Dichiarazione universale dei diritti umani dice che tutte le persone nascono libere e uguali in dignità.",
    "La Déclaration universelle des droits de l'homme dit que toutes les personnes naissent libres et égales.",
    "Die Allgemeine Erklärung der Menschenrechte sagt, dass alle Menschen frei und gleich an Würde geboren sind.",
)


def context(
    evidence: tuple[Evidence, ...],
    platform: str = "forum",
    intent: Intent = Intent.INFORMATIVE,
    key: str = "1",
    language: str = "en",
    groups: tuple[TargetGroup, ...] | None = None,
) -> GuardContext:
    post = make_post(key, "zorblaxians ruin everything and should leave our town", platform=platform)
    targets = evidence[0].groups if groups is None and evidence else groups or ()
    return GuardContext(post=post, language=language, intent=intent, evidence=evidence, groups=targets)


def first_variant(composer: Composer, ctx: GuardContext, number: int) -> str | None:
    return next(composer.variants(ctx, number), None)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("intent", list(Intent))
async def test_every_shipped_statement_makes_a_reply_that_passes_every_hard_check(
    statements: tuple[Evidence, ...], composer: Composer, guard: Guard, intent: Intent, platform: str
) -> None:
    failed, without = [], 0
    for statement in statements:
        for group in statement.groups[:1]:
            ctx = context((statement,), platform, intent, key=statement.id, groups=(group,))
            text = first_variant(composer, ctx, 1)
            without += text is None
            checks = await guard.check(text, ctx) if text else ()
            failed += [(text, check.name, check.detail) for check in checks if check.hard and not check.passed]
    assert failed == []
    assert without <= MOST_TOO_LONG * len(statements) if platform == "twitter" else without == 0


async def test_every_template_passes_with_every_group(
    statements: tuple[Evidence, ...], composer: Composer, guard: Guard
) -> None:
    first = {group: next(item for item in statements if group in item.groups) for group in TargetGroup}
    for group, statement in first.items():
        for intent in Intent:
            ctx = context((statement,), intent=intent, groups=(group,))
            texts = list(composer.variants(ctx, 1))
            assert len(texts) >= 3
            for text in texts:
                assert [c.detail for c in await guard.check(text, ctx) if c.hard and not c.passed] == [], text


@pytest.mark.parametrize(("language", "statement"), list(zip(LANGUAGES[1:], DECLARATION, strict=True)))
async def test_other_languages_compose_from_evidence_in_their_language(
    composer: Composer, guard: Guard, language: str, statement: str
) -> None:
    evidence = make_evidence(text=statement, groups=tuple(TargetGroup), language=language)
    for group in TargetGroup:
        for intent in Intent:
            ctx = context((evidence,), intent=intent, language=language, groups=(group,))
            for text in composer.variants(ctx, 1):
                assert [c.detail for c in await guard.check(text, ctx) if c.hard and not c.passed] == [], text


def test_english_evidence_gives_no_reply_in_another_language(
    statements: tuple[Evidence, ...], composer: Composer
) -> None:
    assert first_variant(composer, context(statements[:3], language="es"), 1) is None
    assert first_variant(composer, context(statements[:3], language="xx"), 1) is None


def test_an_unknown_language_is_answered_in_english(statements: tuple[Evidence, ...], composer: Composer) -> None:
    assert first_variant(composer, context(statements[:3], language="und"), 1) is not None


def test_nothing_comes_of_nothing(composer: Composer) -> None:
    assert first_variant(composer, context(()), 1) is None


@pytest.mark.parametrize(
    "text",
    [
        "It covers everyone.",
        "too long " * 60,
        "states parties shall ensure equal treatment of everybody",
        "(a) Item of a list, no more",
    ],
)
def test_a_paragraph_without_a_quotable_sentence_gives_none(composer: Composer, text: str) -> None:
    assert first_variant(composer, context((make_evidence(text=text),)), 1) is None


def test_a_statement_for_another_group_does_not_fit_unless_it_is_for_all(composer: Composer) -> None:
    text = "The UN says that all human beings are born free and equal in dignity and rights."
    of_another = context((make_evidence(text=text, groups=(TargetGroup.JEWS,)),), groups=(TargetGroup.WOMEN,))
    assert first_variant(composer, of_another, 1) is None
    assert first_variant(composer, context((make_evidence(text=text),), groups=(TargetGroup.WOMEN,)), 1) is not None


async def test_a_statement_that_names_no_source_gets_it_put_in_front(composer: Composer, guard: Guard) -> None:
    ctx = context((make_evidence(text="All human beings are born free and equal in dignity and rights."),))
    text = first_variant(composer, ctx, 1)
    assert text is not None
    assert "Universal Declaration of Human Rights (United Nations): All human beings" in text
    assert all(check.passed for check in await guard.check(text, ctx) if check.hard)


async def test_of_a_long_paragraph_one_sentence_is_taken(composer: Composer, guard: Guard) -> None:
    paragraph = (
        "The UN says that all people are born free and equal. They have reason. The UN says they should act "
        "as brothers and sisters."
    )
    ctx = context((make_evidence(text=paragraph),))
    for text in composer.variants(ctx, 1):
        assert text.count("The UN") == 1
        assert "They have" not in text
        assert all(check.passed for check in await guard.check(text, ctx) if check.hard)


def test_the_same_case_and_number_always_give_the_same_reply(
    statements: tuple[Evidence, ...], composer: Composer
) -> None:
    ctx = context(statements[:3])
    assert first_variant(composer, ctx, 2) == first_variant(Composer(GuardSettings()), ctx, 2)


def test_draft_numbers_take_turns_through_statements_and_templates(
    statements: tuple[Evidence, ...], composer: Composer
) -> None:
    women = tuple(item for item in statements if item.groups == (TargetGroup.WOMEN,))[:3]
    texts = [first_variant(composer, context(women), number) for number in range(1, 7)]
    assert len(set(texts)) == 6
    for text, statement in zip(texts, [*women, *women], strict=True):
        assert text is not None and statement.text in text


def test_different_cases_get_different_templates(statements: tuple[Evidence, ...], composer: Composer) -> None:
    texts = Counter(first_variant(composer, context(statements[:1], key=str(key)), 1) for key in range(200))
    assert len(texts) >= 6
    assert max(texts.values()) < 60


def test_a_short_platform_gets_a_shorter_template_or_statement(
    statements: tuple[Evidence, ...], composer: Composer
) -> None:
    long = sorted(statements, key=lambda item: -len(item.text))[5:30]
    for statement in long:
        text = first_variant(composer, context((statement,), "twitter"), 1)
        assert text is None or len(text) <= 280


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_three_templates_for_every_intent_and_group(language: str) -> None:
    for intent in Intent:
        for group in TargetGroup:
            claim_templates = templates(language, intent, group)
            assert len(set(claim_templates)) == len(claim_templates) >= 3
            assert all(template.count("{evidence}") == 1 for template in claim_templates)
            assert people(language, group)
