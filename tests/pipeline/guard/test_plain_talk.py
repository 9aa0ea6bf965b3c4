"""Figures told in words, words turned round, and what a moderator's own words are refused for."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from core.domain import failed
from core.settings import Settings
from pipeline.guard import Guard, GuardContext
from rejoinder.guard_assembly import open_guard
from tests.factories import make_evidence, make_post, make_source

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


LIKELIER = "In tests, white applicants got 36% more calls from firms than African applicants, a study of 2017 found."


@pytest.mark.parametrize(
    "text",
    [
        "In tests, African applicants got 36% more calls from firms than white applicants, a study of 2017 found.",
        "In tests, white applicants got 2017% more calls from firms, a study of 36 found.",
    ],
)
async def test_sides_and_figures_that_change_places_are_a_swap(guard: Guard, text: str) -> None:
    context = _context(LIKELIER)
    assert "swap" in await _failing(guard, f"That is not so. {text}", context)


@pytest.mark.parametrize(
    "text",
    [
        "In tests, white applicants got more calls from firms than African applicants, a study of 2017 found.",
        "White applicants alone got over 35% more calls from firms than African applicants.",
    ],
)
async def test_what_is_left_out_or_rounded_is_no_swap(guard: Guard, text: str) -> None:
    assert "swap" not in await _failing(guard, f"That is not so. {text}", _context(LIKELIER))


async def test_a_source_called_wrong_is_stopped(guard: Guard) -> None:
    named = make_evidence(text=LIKELIER, source=make_source(institution="Harbour Office", title="Calls"))
    context = replace(_context(LIKELIER), evidence=(named,))
    assert "stance" in await _failing(guard, "Work is work. The Harbour Office is wrong to say so.", context)
    assert "stance" not in await _failing(guard, "You are wrong about that. The Harbour Office said so.", context)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The Holocaust did not happen as they say.", "en"),
        ("El Holocausto no ocurrió como dicen.", "es"),
        ("La Shoah non è avvenuta come dicono.", "it"),
        ("Holokaustoa ez zen dioten bezala gertatu.", "eu"),
    ],
)
async def test_denial_is_stopped_in_each_language(guard: Guard, text: str, language: str) -> None:
    assert "stance" in await _failing(guard, text, _context(VOTE, language))


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
