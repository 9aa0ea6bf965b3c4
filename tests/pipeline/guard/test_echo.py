from __future__ import annotations

from collections.abc import Callable

import pytest

from core.domain import Check

Judge = Callable[..., Check]

POST = "zorblaxians ruin everything and they steal our jobs every single day"


@pytest.mark.parametrize(
    "text",
    [
        "Zorblaxians ruin everything and they steal our jobs every single day.",
        "Well, zorblaxians ruin everything and they steal our jobs.",
        "They steal our jobs every single day. Everyone has rights.",
        "ZORBLAXIANS RUIN EVERYTHING, and THEY steal OUR jobs!",
        "The Zorblaxians are ruining everything, stealing jobs each single day.",
        "People say zorblaxians ruin everything and they steal our jobs every single day, which is false.",
        "Jobs get stolen and everything gets ruined, day after day.",
    ],
)
def test_repeating_the_claim_fails_also_reworded_or_padded(judge: Judge, text: str) -> None:
    assert not judge("echo", text, post=POST).passed


@pytest.mark.parametrize(
    "text",
    [
        "Zorblaxians have the same rights as everybody. That is the law.",
        "It is not true that Zorblaxians steal jobs.",
        "The claim that they steal jobs is a myth.",
        "Zorblaxians work, pay and live like their neighbours.",
        "Zorblaxians and Zorblaxians and Zorblaxians.",
        "Everyone deserves respect.",
    ],
)
def test_naming_the_group_and_refuting_in_own_words_pass(judge: Judge, text: str) -> None:
    assert judge("echo", text, post=POST).passed


def test_a_copied_clause_that_holds_its_own_no_is_still_copied(judge: Judge) -> None:
    post = "women should not hold public jobs in this town"
    assert not judge("echo", "Women should not hold public jobs, says CEDAW.", post=post).passed


def test_a_copied_debunking_word_refutes_nothing(judge: Judge) -> None:
    post = "the great flood of Zorblax is a myth invented for money"
    assert not judge("echo", "The great flood of Zorblax is a myth. Everyone has rights.", post=post).passed


def test_words_of_the_evidence_may_be_used_although_the_post_has_them(judge: Judge) -> None:
    post = "women must never vote or stand for election or hold office"
    assert judge("echo", "CEDAW lets women vote, stand for election and hold public office.", post=post).passed


def test_a_quoted_statement_is_no_echo(judge: Judge, good: str) -> None:
    assert judge("echo", good, post=good.lower()).passed is False
    statement = good.split(". ", 1)[1]
    assert judge("echo", f"No group of people is worth less than another. {statement}", post=statement.lower()).passed


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("Do you see how they steal our jobs every single day?", False),
        ("Would you like it if somebody said of you that you steal and ruin everything?", True),
    ],
)
def test_a_question_to_the_author_may_use_words_of_the_post_and_copy_none_of_its_clauses(
    judge: Judge, text: str, passes: bool
) -> None:
    assert judge("echo", text, post=POST).passed is passes


@pytest.mark.parametrize("post", ["hm", "😀😀😀", "...", "<<<>>>", "a" * 20_000, "word " * 4_000, "不要他们"])
def test_odd_posts_do_not_disturb(judge: Judge, good: str, post: str) -> None:
    assert judge("echo", good, post=post).passed


def test_an_echo_in_a_script_without_spaces_is_seen(judge: Judge) -> None:
    assert not judge("echo", "这些人毁了一切。", post="这些人毁了一切", language="zh").passed


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("Zorblaxians do not ruin everything.", True),
        ("Zorblaxians ruin everything, and that is not nice.", False),
        ("It is not nice, but zorblaxians ruin everything.", False),
    ],
)
def test_negating_the_claim_is_no_echo_and_negating_something_else_is(judge: Judge, text: str, passes: bool) -> None:
    assert judge("echo", text, post="zorblaxians ruin everything").passed is passes


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("Zorblaxians are not swimming in money.", True),
        ("Zorblaxians are swimming in money, and nobody asks why.", False),
        ("They do not pay taxes, and that is so.", False),
    ],
)
def test_a_negation_elsewhere_in_the_post_does_not_turn_that_of_the_reply(
    judge: Judge, text: str, passes: bool
) -> None:
    post = "i never met a poor zorblaxian in all my life here, they are swimming in money and they do not pay taxes"
    assert judge("echo", text, post=post).passed is passes


def test_a_negation_at_the_start_of_a_long_clause_counts(judge: Judge) -> None:
    post = "nobody will ever be able to convince me that zorblaxians are civilised people"
    assert not judge("echo", "Zorblaxians are not civilised people.", post=post).passed
    assert judge("echo", "Zorblaxians are not civilised people.", post=post.replace("nobody", "somebody")).passed


def test_shared_words_alone_are_less_than_a_copied_clause(judge: Judge) -> None:
    assert judge("echo", "Money, taxes.", post="they have money, taxes they dodge").value < 1
    assert (
        judge("echo", "Zorblaxians ruin every single harbour.", post="zorblaxians ruin every single harbour").value == 1
    )
