from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.domain import Check, Evidence
from core.settings import GuardSettings
from pipeline.guard import GuardContext, ToxicityCheck
from pipeline.guard.material import material
from tests.factories import make_evidence, make_post

Judge = Callable[..., Check]


@pytest.mark.parametrize(
    "text",
    [
        "You are an idiot.",
        "What a pathetic thing to say.",
        "Only morons think so.",
        "Shut up, please.",
        "You're a racist.",
        "STUPID talk.",
        "ｓｔｕｐｉｄ talk.",
        "Don't be such a clown.",
    ],
)
def test_insults_fail(judge: Judge, text: str) -> None:
    assert not judge("insult", text).passed


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "Eres un payaso."),
        ("it", "Sei un imbecille."),
        ("fr", "Quel abruti."),
        ("de", "Du Trottel."),
        ("de", "You idiot."),
    ],
)
def test_insults_are_known_in_five_languages(judge: Judge, language: str, text: str) -> None:
    assert not judge("insult", text, language=language).passed


@pytest.mark.parametrize(
    "text",
    [
        "Racism is wrong.",
        "Foolproof plans and trashcans.",
        "That statement is racist.",
        "Pigment and piglets.",
    ],
)
def test_words_about_conduct_are_no_insult(judge: Judge, text: str) -> None:
    assert judge("insult", text).passed


def test_a_fair_reply_is_not_toxic_and_abuse_is(judge: Judge, good: str) -> None:
    assert judge("toxicity", good).passed
    assert not judge("toxicity", "You stupid idiot, shut the hell up, you are disgusting trash.").passed


class OneSlur:
    """A toxicity model that knows one invented slur, and holds the name of a group to be as bad."""

    languages = frozenset({"en"})

    def score(self, text: str) -> float:
        return 0.99 if text in ("zorbling", "gay") else 0.1


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("Being a zorbling is no excuse for hate speech.", False),
        ("Being a Zorbling is no excuse for hate speech.", False),
        ("Being gay is no reason for contempt.", True),
        ("The report says that a zorbling is a kind of cloud.", True),
        ("Nobody deserves a slur.", True),
    ],
)
def test_a_slur_of_the_post_is_not_said_again_except_by_evidence(
    context: GuardContext, text: str, passed: bool
) -> None:
    evidence: tuple[Evidence, ...] = (make_evidence(text="The report says that a zorbling is a kind of cloud."),)
    context = replace(context, post=make_post(text="what a gay zorbling"), evidence=evidence)
    measured = ToxicityCheck(OneSlur(), GuardSettings()).measure(material(text, context), context)
    assert measured.passed is passed


def test_a_slur_that_only_the_reply_has_counts_in_the_whole_alone(context: GuardContext) -> None:
    text = "A zorbling is a cloud."
    assert ToxicityCheck(OneSlur(), GuardSettings()).measure(material(text, context), context).passed


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("Women have as much right to a say in politics as any man has.", True),
        ("People like you are a disgrace to this country.", False),
        ("Go back to your cave, you bigot.", False),
    ],
)
def test_the_name_of_a_group_is_not_toxic_and_contempt_is(judge: Judge, text: str, passes: bool) -> None:
    assert judge("toxicity", text).passed is passes
