"""Let a model compare the drafts of a run: every pair of systems on every post, in both orders."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from random import Random

from core.domain import Record
from core.errors import ModelRefused, ModelUnavailable
from evaluation.judging.prompts import JudgePrompt, Preference
from evaluation.lines import append_lines, mend, read_lines
from evaluation.run import RunFolder
from models.chat import ChatModel

MOST_ABSENCES = 3
"""Consecutive questions without an answer after which the judge counts as unreachable."""
AWAY = "(away:"
"""The start of a recorded answer when the judge could not be reached."""


class Question(Record):
    """Two drafts for one post, in the order in which a judge sees them; `first` and `second` name their systems."""

    post_id: str
    first: str
    second: str


class JudgeVerdict(Record):
    """A judge's answer to a question: its text, and the preference read from it."""

    question: Question
    judge: str
    prompt: str
    preference: Preference
    answer: str
    characters_sent: int
    seconds: float


def questions(run: RunFolder, most: int | None, seed: int) -> list[Question]:
    """Return the questions on all pairs of drafts, or on `most` pairs drawn by the seed; both orders are adjacent."""
    systems: dict[str, list[str]] = defaultdict(list)
    for draft in run.drafts():
        if draft.text:
            systems[draft.post_id].append(draft.system)
    pairs = [(post, *pair) for post, names in systems.items() for pair in combinations(sorted(names), 2)]
    if most is not None and len(pairs) > most:
        pairs = sorted(Random(seed).sample(pairs, most))
    return list(_both_orders(pairs))


def _both_orders(pairs: Sequence[tuple[str, str, str]]) -> Iterator[Question]:
    for post, left, right in pairs:
        yield Question(post_id=post, first=left, second=right)
        yield Question(post_id=post, first=right, second=left)


def verdicts_of(run: RunFolder, judge: str, prompt: str) -> list[JudgeVerdict]:
    """Return a judge's latest verdict on each question, asked with the given prompt."""
    latest = {
        verdict.question: verdict
        for verdict in read_lines(run.verdicts_path, JudgeVerdict)
        if (verdict.judge, verdict.prompt) == (judge, prompt)
    }
    return list(latest.values())


async def judge(
    run: RunFolder, chat: ChatModel, prompt: JudgePrompt, owed: Sequence[Question], advance: Callable[[int], None]
) -> None:
    """Ask the judge the questions that have no answer yet, and append its verdicts.

    An answer that can't be read is recorded without a preference. A question that the judge could not be reached for is
    asked again by the next call. Raises ModelUnavailable after MOST_ABSENCES such questions in a row; earlier verdicts
    are kept.
    """
    mend(run.verdicts_path)
    verdicts = verdicts_of(run, chat.model, prompt.name)
    known = {verdict.question for verdict in verdicts if not verdict.answer.startswith(AWAY)}
    texts = {(draft.post_id, draft.system): draft.text for draft in run.drafts()}
    posts = run.posts()
    absences = 0
    advance(len(known))
    for question in owed:
        if question in known:
            continue
        first, second = (texts[question.post_id, system] for system in (question.first, question.second))
        verdict, absent = await _ask(chat, prompt, question, (posts[question.post_id].text, first, second))
        absences = absences + 1 if absent else 0
        if absences >= MOST_ABSENCES:
            raise ModelUnavailable(
                f"The judge {chat.model} has not answered {absences} times in a row. Its verdicts so far are kept: "
                "start it and run the command again to go on."
            )
        append_lines(run.verdicts_path, [verdict])
        advance(1)


async def _ask(
    chat: ChatModel, prompt: JudgePrompt, question: Question, texts: tuple[str, str, str]
) -> tuple[JudgeVerdict, bool]:
    """Return the verdict on a post and two drafts, and whether the judge could not be reached."""
    messages = prompt.ask(*texts)
    begun = time.perf_counter()
    answer, absent = "", False
    try:
        (completion, *_) = await chat.complete(messages, temperature=0.0, max_tokens=prompt.max_tokens, seed=0)
        answer = completion.text
    except ModelRefused as error:
        answer = f"(refused: {error})"
    except ModelUnavailable as error:
        answer, absent = f"{AWAY} {error})", True
    verdict = JudgeVerdict(
        question=question,
        judge=chat.model,
        prompt=prompt.name,
        preference=prompt.read(answer),
        answer=answer[:2_000],
        characters_sent=sum(len(message.content) for message in messages),
        seconds=round(time.perf_counter() - begun, 3),
    )
    return verdict, absent
