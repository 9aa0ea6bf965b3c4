from __future__ import annotations

from collections.abc import Callable

import pytest

from core.domain import Check

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
