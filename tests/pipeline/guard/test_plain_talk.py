"""Figures told in words, words turned round, and what a moderator's own words are refused for."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from core.domain import failed
from core.settings import Settings
from pipeline.guard import Guard, GuardContext
from rejoinder.assembly import open_guard
from tests.factories import make_evidence, make_post

SHARE = "In 2022, 47 % of the Zorblaxians asked and 90 % of their 1.98 million neighbours paid taxes on the moon."
VOTE = "Under CEDAW, states must guarantee women the right to vote and to stand for election."


@pytest.fixture(scope="module")
def guard() -> Guard:
    return open_guard(Settings())


def _context(text: str, language: str = "en") -> GuardContext:
    post = make_post(text="zorblaxians never pay, and women have no business in politics")
    return GuardContext(post, language, evidence=(make_evidence(text=text, language=language),))


async def _failing(guard: Guard, text: str, context: GuardContext) -> set[str]:
    return {check.name for check in failed(await guard.check(text, context))}


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("Nearly half of the Zorblaxians asked paid taxes on the moon in 2022.", True),
        ("Nine out of ten neighbours paid taxes on the moon in 2022.", True),
        ("Almost two million neighbours were asked in 2022.", True),
        ("A quarter of the Zorblaxians asked paid taxes on the moon in 2022.", False),
        ("Seven out of ten neighbours paid taxes on the moon in 2022.", False),
        ("Almost three million neighbours were asked in 2022.", False),
    ],
)
async def test_a_share_in_words_stands_for_a_percentage(guard: Guard, text: str, known: bool) -> None:
    failing = await _failing(guard, f"{text} That is only fair.", _context(SHARE))
    assert ("numbers" not in failing) is known


@pytest.mark.parametrize(
    ("text", "evidence", "language"),
    [
        ("Taxes of Zorblaxians on the moon fell in 2022.", "Taxes of Zorblaxians on the moon rose in 2022.", "en"),
        (
            "Il rischio di contagio da migranti in casa è alto.",
            "Il rischio di contagio da migranti in casa è basso.",
            "it",
        ),
    ],
)
async def test_a_word_turned_round_is_a_swap(guard: Guard, text: str, evidence: str, language: str) -> None:
    context = _context(evidence, language)
    assert "swap" in await _failing(guard, text, context)
    assert "swap" not in await _failing(guard, evidence, context)


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("You are a pathetic idiot. Women have the right to vote.", "insult"),
        ("We know where you live. Women have the right to vote.", "insult"),
        ("Watch your back. Everyone deserves respect.", "insult"),
        ("Here is a reply in two sentences. Women have the right to vote.", "leak"),
        ("Women have the right to vote. Read it on zorblax.example today.", "links"),
        ("You are right that women have no business in politics. They may vote.", "stance"),
        ("Men are right to keep women out of politics. They may vote.", "stance"),
        ("Under CEDAW, 99% of women voted in 1812. Everyone deserves respect.", "numbers"),
    ],
)
async def test_what_a_moderators_own_words_are_refused_for(guard: Guard, text: str, check: str) -> None:
    assert check in await _failing(guard, text, _context(VOTE))


@pytest.mark.parametrize(
    "text",
    [
        "My grandmother fought for that right. Please respect her and all women.",
        "Women are right to ask for a say. Everyone deserves respect.",
        "They had nothing to do with it. Please do not judge millions by one.",
    ],
)
async def test_a_moderators_fair_words_pass(guard: Guard, text: str) -> None:
    assert await _failing(guard, text, replace(_context(VOTE), claims=())) == set()


async def test_many_number_words_are_read_in_bounded_time(guard: Guard) -> None:
    start = time.process_time()
    await guard.check("one hundred " * 400, _context(VOTE))
    assert time.process_time() - start < 5
