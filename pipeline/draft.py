"""Draft a reply: sample candidates from the model, keep those that pass the guard, show the best, else compose one."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from core.domain import (
    Candidate,
    Check,
    Draft,
    DraftRequest,
    FlaggedPost,
    Grounding,
    Origin,
    Triage,
)
from core.errors import ModelRefused, ModelUnavailable
from core.settings import ChatSettings
from models.chat import ChatClient
from pipeline import grammar, prompt
from pipeline.compose import Composer
from pipeline.guard import Guard, GuardContext, limit_for
from pipeline.guard.material import material
from pipeline.guard.words import content, words

SUPPORT_WEIGHT, RELEVANCE_WEIGHT, BREVITY_WEIGHT, MARGIN_WEIGHT = 0.5, 0.2, 0.1, 0.2
"""Weights of the composite reward: evidence used, nearness to the post, brevity, distance to the guard's limits."""
MOST_COMPOSED = 12
"""Composed variants tried before the case is shown without a draft."""

_LABEL = re.compile(r"^\s*(?:reply|response|answer)\s*:\s*", re.IGNORECASE)
_BELOW_LIMIT = ("echo", "toxicity", "repeat")


class Drafter:
    """Draft replies; without a chat client every draft is composed."""

    def __init__(self, chat: ChatClient | None, guard: Guard, composer: Composer, settings: ChatSettings) -> None:
        self._chat = chat
        self._guard = guard
        self._composer = composer
        self._settings = settings
        # A post that waits for its turn here does not use up its timeout in the server's queue.
        self._turns = asyncio.Semaphore(max(1, settings.slots // settings.candidates))

    async def draft(
        self,
        post: FlaggedPost,
        triage: Triage,
        grounding: Grounding,
        request: DraftRequest,
        *,
        last_attempt: bool = False,
    ) -> Draft:
        """Return the best draft that passes every hard check; origin `none` with a note when there is none.

        Raises ModelUnavailable while the configured model is away, so that the caller can wait and try again; on the
        `last_attempt` the draft is composed instead. A model that refuses is not asked twice.
        """
        ctx = context(post, triage, grounding, request)
        candidates, why = await self._sample(ctx, request, last_attempt)
        passing = [candidate for candidate in candidates if candidate.passes]
        if passing:
            best = max(passing, key=lambda candidate: candidate.reward)
            return self._shown(ctx, request, best, len(candidates), _failures(candidates))
        composed = await asyncio.to_thread(self._compose, ctx, request)
        considered = len(candidates) + len(composed)
        notes = [why, _failures(candidates), grounding.note]
        if composed and composed[-1].passes:
            if request.hint and not candidates:
                notes.append("The hint was not used: this draft is composed from the evidence.")
            return self._shown(ctx, request, composed[-1], considered, _joined(notes))
        notes.append(_nothing_fits(ctx, composed))
        empty = Candidate(text="", origin=Origin.NONE, checks=())
        return self._shown(ctx, request, empty, considered, _joined(notes))

    async def _sample(self, ctx: GuardContext, request: DraftRequest, last: bool) -> tuple[list[Candidate], str]:
        """Return the model's candidates, checked; or none, and why."""
        if self._chat is None or self._settings.model == "none":
            return [], ""
        limit = limit_for(ctx.post.platform, self._guard.settings)
        try:
            async with self._turns:
                answers = await self._chat.complete(
                    prompt.messages(ctx, request.hint),
                    n=self._settings.candidates,
                    temperature=self._settings.temperature,
                    max_tokens=self._settings.max_tokens,
                    grammar=grammar.two_sentences(ctx.intent, limit),
                )
        except ModelRefused as error:
            return [], f"The language model refused: {error}"
        except ModelUnavailable as error:
            if not last:
                raise
            return [], f"The language model is away: {error}"
        texts = dict.fromkeys(tidy(answer.text) for answer in answers)
        return await asyncio.to_thread(lambda: [self._judge(text, Origin.MODEL, ctx) for text in texts]), ""

    def _compose(self, ctx: GuardContext, request: DraftRequest) -> list[Candidate]:
        """Return composed candidates up to the first that passes."""
        tried: list[Candidate] = []
        for text in islice(self._composer.variants(ctx, request.number), MOST_COMPOSED):
            tried.append(self._judge(text, Origin.COMPOSER, ctx))
            if tried[-1].passes:
                break
        return tried

    def _judge(self, text: str, origin: Origin, ctx: GuardContext) -> Candidate:
        checks = self._guard.check(text, ctx)
        return Candidate(text=text, origin=origin, checks=checks, reward=reward(text, checks, ctx))

    def _shown(self, ctx: GuardContext, request: DraftRequest, best: Candidate, considered: int, note: str) -> Draft:
        model = self._chat.model if best.origin is Origin.MODEL and self._chat else ""
        return Draft(
            case_key=ctx.post.key,
            number=request.number,
            text=best.text,
            intent=ctx.intent,
            origin=best.origin,
            model=model,
            language=ctx.reply_language,
            checks=best.checks,
            considered=considered,
            note=note,
        )


def context(post: FlaggedPost, triage: Triage, grounding: Grounding, request: DraftRequest) -> GuardContext:
    """Return what a reply to this case is judged against."""
    return GuardContext(
        post=post,
        language=triage.language,
        intent=request.intent,
        evidence=grounding.evidence,
        groups=tuple(score.group for score in triage.groups),
        avoid=request.avoid,
    )


def reward(text: str, checks: Iterable[Check], ctx: GuardContext) -> float:
    """Return the composite reward of a reply, 0 to 1: evidence used, nearness to the post, brevity, margins."""
    by_name = {check.name: check for check in checks}
    support = by_name["evidence"].value
    brevity = max(0.0, 1 - by_name["length"].value / by_name["length"].threshold)
    margins = [max(0.0, 1 - by_name[name].value / (by_name[name].threshold or 1)) for name in _BELOW_LIMIT]
    return round(
        SUPPORT_WEIGHT * support
        + RELEVANCE_WEIGHT * _relevance(text, ctx)
        + BREVITY_WEIGHT * brevity
        + MARGIN_WEIGHT * sum(margins) / len(margins),
        4,
    )


def tidy(answer: str) -> str:
    """Return a model's answer without label, enclosing quotation marks and stray white space."""
    text = " ".join(_LABEL.sub("", answer).split())
    if len(text) > 1 and text[0] + text[-1] in {'""', "“”", "''"} and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


def _relevance(text: str, ctx: GuardContext) -> float:
    """Return the share of the reply's content that the post or the claims its evidence answers also speak of."""
    language = ctx.reply_language
    own = content(words(text), language)
    claims = (words(claim) for item in ctx.evidence for claim in item.answers)
    topic = content(material(text, ctx).post_words, language).union(*(content(claim, language) for claim in claims))
    return len(own & topic) / len(own) if own else 0.0


def _failures(candidates: list[Candidate]) -> str:
    """Return "4 model drafts failed: stance (3), numbers (1)", empty when none failed."""
    failed = [candidate for candidate in candidates if not candidate.passes]
    if not failed:
        return ""
    names = Counter(check.name for candidate in failed for check in candidate.checks if check.hard and not check.passed)
    listed = ", ".join(f"{name} ({count})" for name, count in names.most_common())
    return f"{len(failed)} of {len(candidates)} model drafts failed: {listed}."


def _nothing_fits(ctx: GuardContext, composed: list[Candidate]) -> str:
    name = prompt.language_name(ctx.reply_language)
    if composed:
        failed = {check.name for candidate in composed for check in candidate.checks if check.hard and not check.passed}
        return f"Composed replies failed: {', '.join(sorted(failed))}. Search the evidence or write a reply."
    return f"No fitting evidence in {name} for this post. Search the evidence or write a reply."


def _joined(notes: Iterable[str]) -> str:
    return " ".join(note for note in notes if note)
