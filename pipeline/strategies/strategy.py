"""The protocol of strategies, and the replies that they propose."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from core.domain import DraftRequest, Duel, FlaggedPost, Origin, Plan, Triage
from pipeline.guard import GuardContext
from pipeline.languages import packs

T = TypeVar("T")


@dataclass(frozen=True)
class Proposal:
    """A reply that has not been judged yet.

    `model` names the model that wrote it. For words on file, `claim` is the id of the claim that the reply answers, and
    `facts` are the ids of the evidence that it states word for word.
    """

    text: str
    origin: Origin
    model: str = ""
    claim: str = ""
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposed:
    """The replies that a strategy proposes, in rounds.

    A later round is used only if no reply of the earlier ones passes. `note` says what did not work as wanted, and
    `duels` are a tournament's record of its judge.
    """

    rounds: tuple[tuple[Proposal, ...], ...] = ()
    note: str = ""
    duels: tuple[Duel, ...] = ()

    @property
    def first_round(self) -> tuple[Proposal, ...]:
        """Return the replies of the first round; none if there are no rounds."""
        return self.rounds[0] if self.rounds else ()


class Strategy(Protocol):
    """A way to arrive at replies. Safe to call from many tasks of one event loop.

    A method that asks a model may raise only ModelUnavailable (the model is away; a later call may work) and
    ModelRefused (a later call won't work either; TooSlow if the model took too long). A method that asks no model
    raises neither, and decides the same for the same case.

    `plans_with_model` and `writes_with_model` describe the kind of strategy, whether or not a model is available. The
    docstring of a strategy says what it costs at most with the default settings: requests, and tokens written.
    """

    @property
    def name(self) -> str:
        """Return the name that plans and candidates carry."""

    @property
    def plans_with_model(self) -> bool:
        """Tell whether `plan` asks the chat model."""

    @property
    def writes_with_model(self) -> bool:
        """Tell whether `propose` asks the chat model."""

    async def plan(self, post: FlaggedPost, triage: Triage) -> Plan:
        """Decide, before the search, what to answer and what to search for; the plan carries the strategy's name."""

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> Proposed:
        """Return replies to be judged.

        There may be none, for example without evidence. The texts are tidy, those of a round differ, and their number
        is bounded. If another strategy planned the case, or none, `plan` is that strategy's, or empty.
        """


async def together(*requests: Coroutine[Any, Any, T]) -> list[T]:
    """Return the results of all requests in order; if any failed, raise the first error once all have ended."""
    results = await asyncio.gather(*requests, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


def tidy(answer: str) -> str:
    """Return a model's answer without a label, enclosing quotation marks or stray white space."""
    text = " ".join(_label().sub("", answer).split())
    if len(text) > 1 and text[0] + text[-1] in {'""', "“”", "''"} and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


@lru_cache(maxsize=1)
def _label() -> re.Pattern[str]:
    """Return a pattern for the labels of all languages: a model may use its instructions' or its reply's."""
    labels = (re.escape(label) for pack in packs().values() for label in pack.reply_labels)
    return re.compile(rf"^\s*(?:{'|'.join(labels)})\s*:\s*", re.IGNORECASE)
