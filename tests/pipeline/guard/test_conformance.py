"""What every check of the guard must hold to, whatever it looks for."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from core.domain import Intent
from core.settings import GuardSettings
from models.toxicity import ToxicityHead
from pipeline.guard import GuardCheck, GuardContext, ToxicityCheck, word_checks
from pipeline.guard.material import Material, material
from pipeline.guard.reward import RELEVANCE_WEIGHT
from tests.factories import make_post

SETTINGS = GuardSettings()


class SlowToxicity:
    """A Toxicity that takes a moment for each text."""

    languages = frozenset({"en"})

    def score(self, text: str) -> float:
        time.sleep(0.01)
        return 0.5 if "zorblaxian" in text else 0.0


CHECKS: list[GuardCheck] = [
    *word_checks(SETTINGS),
    ToxicityCheck(ToxicityHead.load(), SETTINGS),
    ToxicityCheck(SlowToxicity(), SETTINGS, costly=True),
]
TEXTS = (
    "Women deserve an equal say in politics. Under CEDAW, states must guarantee women the right to vote.",
    "You are right. The zorblaxians are idiots, see https://zorblax.example.",
    "Is that fair?",
    "Studies by Amnesty show that 99% of @zorblaxians disagree. As an AI I can't say more.",
    "",
    " \n",
    "\x00",
    "\ud800",
    "这不公平。每个人都有权利。",
    "Nadie es ilegal. Todos tenemos los mismos derechos.",
    "a " * 10_000,
    "." * 5_000,
)


@pytest.fixture(params=CHECKS, ids=lambda check: f"{check.name}{'-costly' if check.costly else ''}")
def check(request: pytest.FixtureRequest) -> GuardCheck:
    given: GuardCheck = request.param
    return given


@pytest.fixture
def replies(context: GuardContext) -> list[Material]:
    return [material(text, context) for text in TEXTS]


async def test_one_result_a_reply_in_their_order(
    check: GuardCheck, replies: list[Material], context: GuardContext
) -> None:
    together = await check.check_many(replies, context)
    alone = [(await check.check_many([reply], context))[0] for reply in replies]
    assert together == alone
    assert await check.check_many(replies[::-1], context) == alone[::-1]


async def test_results_carry_the_name_and_are_never_harder_than_declared(
    check: GuardCheck, replies: list[Material], context: GuardContext
) -> None:
    results = await check.check_many(replies, context)
    assert {result.name for result in results} == {check.name}
    assert all(check.hard for result in results if result.hard)


async def test_no_replies_give_no_results(check: GuardCheck, context: GuardContext) -> None:
    assert await check.check_many([], context) == []


async def test_a_merit_is_a_share(check: GuardCheck, replies: list[Material], context: GuardContext) -> None:
    if check.reward is not None:
        results = await check.check_many(replies, context)
        assert all(0 <= check.reward.merit(result) <= 1 for result in results)
        assert 0 < check.reward.weight <= 1


@pytest.mark.parametrize("intent", list(Intent))
async def test_hostile_and_foreign_cases_are_judged_too(
    check: GuardCheck, context: GuardContext, intent: Intent
) -> None:
    post = make_post(text="(" * 5_000, platform="nowhere", context=("[" * 5_000,))
    hostile = replace(context, post=post, evidence=(), groups=(), language="xx", intent=intent, avoid=("",))
    replies = [material(text, hostile) for text in TEXTS]
    assert len(await check.check_many(replies, hostile)) == len(TEXTS)


async def test_many_tasks_get_what_one_gets(check: GuardCheck, replies: list[Material], context: GuardContext) -> None:
    expected = await check.check_many(replies, context)
    results = await asyncio.gather(*(check.check_many(replies, context) for _ in range(5)))
    assert all(result == expected for result in results)


async def test_the_event_loop_goes_on_meanwhile(context: GuardContext) -> None:
    check = ToxicityCheck(SlowToxicity(), SETTINGS)
    judging = asyncio.ensure_future(check.check_many([material("Hello there.", context)] * 20, context))
    ticks = 0
    while not judging.done():
        await asyncio.sleep(0.005)
        ticks += 1
    assert ticks > 3


def test_names_are_distinct_and_weights_are_shared_out() -> None:
    checks: list[GuardCheck] = [*word_checks(SETTINGS), ToxicityCheck(SlowToxicity(), SETTINGS)]
    assert len({check.name for check in checks}) == len(checks)
    weights = [check.reward.weight for check in checks if check.reward is not None]
    assert sum(weights) + RELEVANCE_WEIGHT == pytest.approx(1)
