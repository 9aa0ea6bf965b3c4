from __future__ import annotations

import re

import pytest

from core.domain import Intent
from kb.starter import load_starter
from pipeline.grammar import sentence_and_fact, two_sentences
from pipeline.guard.lexicon import table


def as_pattern(grammar: str) -> re.Pattern[str]:
    """Turn our GBNF, which has no recursion, into the regular expression it stands for."""
    rules = dict(line.split(" ::= ", 1) for line in grammar.splitlines() if line)

    def expand(body: str) -> str:
        parts = re.findall(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|[a-z]+|[()|?*+]|\{\d+,\d+\}', body)
        return "".join(_piece(part, expand, rules) for part in parts)

    return re.compile(expand(rules["root"]))


def _piece(part: str, expand: object, rules: dict[str, str]) -> str:
    if part.startswith('"'):
        return f"(?:{re.escape(part[1:-1].replace(chr(92) + chr(34), chr(34)))})"
    if part.startswith("["):
        return part
    if part.isalpha():
        assert callable(expand)
        return f"(?:{expand(rules[part])})"
    return part


@pytest.mark.parametrize(
    "text",
    [
        "Women have the same rights. The rate is 4.9% in all of them.",
        "See Art. 7 of the convention, please. The U.N. says so, e.g. in A/RES/80/193!",
        "Why should it be so? Rights are for each of us.",
        "¿Por qué dices eso hoy? Nadie merece este trato tan duro.",
        "It was 1,000 (or 16 per cent) then; nobody knows why. That is not a fair picture.",
    ],
)
def test_two_sentences_with_figures_and_abbreviations_fit(text: str) -> None:
    assert as_pattern(two_sentences(Intent.INFORMATIVE, 500, "en")).fullmatch(text)


@pytest.mark.parametrize(
    "text",
    [
        "One sentence is all there is here.",
        "Too short. Here is the second sentence, a good one.",
        "Here is one sentence with a link http://x.org in. Here is the second one.",
        "Here is some <b>bold</b> text now. Here is the second one.",
        "Here is a first sentence. Here is a second one. Here is a third.",
        "Here is a first sentence. Here is a second one",
        "Here is @someone in a sentence. Here is the second one.",
        "Here is a first sentence.\nHere is the second one.",
        "Here is a `code` piece for you. Here is the second one.",
    ],
)
def test_other_shapes_do_not_fit(text: str) -> None:
    assert as_pattern(two_sentences(Intent.INFORMATIVE, 500, "en")).fullmatch(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The treaty of ۱۹۵۲ said so.",
        "The treaty of １９５２ said so.",
        "It was so for ⅓ of them.",
        "The treaty of ￥ ￥ ￥ said so.",
        "The share rose from % to % then.",
        "The treaty of 제 ˜ ـ said so.",
    ],
)
def test_what_models_write_for_want_of_digits_does_not_fit(text: str) -> None:
    pattern = as_pattern(sentence_and_fact(300, 2, "en"))
    assert pattern.fullmatch("Nobody’s worth, it’s plain – “really” (or not), depends on that. [2]")
    assert not pattern.fullmatch(f"{text} [2]")


def test_words_of_other_scripts_fit_where_the_language_has_no_pack() -> None:
    assert as_pattern(sentence_and_fact(300, 2, "ru")).fullmatch("Никто не хуже других из-за этого. [2]")
    assert not as_pattern(sentence_and_fact(300, 2, "en")).fullmatch("Никто не хуже других из-за этого. [2]")


def test_a_question_may_stand_alone_only_when_questioning() -> None:
    text = "What makes you think so about them?"
    assert as_pattern(two_sentences(Intent.QUESTIONING, 500, "en")).fullmatch(text)
    assert not as_pattern(two_sentences(Intent.POSITIVE, 500, "en")).fullmatch(text)


def test_nothing_longer_than_the_platform_allows_by_far_can_be_written() -> None:
    pattern = as_pattern(two_sentences(Intent.INFORMATIVE, 280, "en"))
    assert not pattern.fullmatch(f"{'word ' * 60}end. And a second sentence here.")
    assert pattern.fullmatch(f"{'word ' * 20}end. And a second sentence here.")


def test_the_worked_examples_and_shipped_statements_can_be_written() -> None:
    pattern = as_pattern(two_sentences(Intent.INFORMATIVE, 500, "en"))
    for reply in table("prompts")["example"]["replies"].values():
        assert pattern.fullmatch(reply), reply
    for statement in load_starter():
        assert pattern.fullmatch(f"That is not a fair picture. {statement.text}"), statement.text
