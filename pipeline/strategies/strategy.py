"""What a strategy is."""

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
    """A reply that nobody has judged yet.

    `model` names the model that wrote it; `claim` is the id of the claim it answers and `facts` those of the evidence
    that it states word for word, for words on file.
    """

    text: str
    origin: Origin
    model: str = ""
    claim: str = ""
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposed:
    """The replies that a strategy proposes, in rounds.

    A later round counts only where no reply of those before it passes. `note` says what did not come about as wanted,
    and `duels` are what a tournament reports of its judge.
    """

    rounds: tuple[tuple[Proposal, ...], ...] = ()
    note: str = ""
    duels: tuple[Duel, ...] = ()

    @property
    def first_round(self) -> tuple[Proposal, ...]:
        """Return the replies of the first round; none where there is no round."""
        return self.rounds[0] if self.rounds else ()


class Strategy(Protocol):
    """A way to come to replies. Safe to call from many tasks of one event loop.

    A method that asks a model may raise ModelUnavailable (the model is away; later it may work) and ModelRefused (it
    will not work later either; TooSlow where it took too long), and nothing else. One that asks none raises neither,
    and decides the same for the same case. What a strategy asks models for is true of its kind, whether a model is at
    hand or not. Its docstring says what it costs at most with the default settings: requests, and tokens written.
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

        There may be none, as without evidence. The texts are tidy, those of a round differ, and their number has a
        bound. `plan` is empty, or another strategy's, for a case that was not planned by this one.
        """


async def together(*requests: Coroutine[Any, Any, T]) -> list[T]:
    """Return what all requests give, in their order; raise an error among them once each has ended."""
    results = await asyncio.gather(*requests, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


def tidy(answer: str) -> str:
    """Return a model's answer without label, enclosing quotation marks and stray white space."""
    text = " ".join(_label().sub("", answer).split())
    if len(text) > 1 and text[0] + text[-1] in {'""', "“”", "''"} and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


@lru_cache(maxsize=1)
def _label() -> re.Pattern[str]:
    """Return a pattern for the labels of all languages: a model may use its instructions' or its reply's."""
    labels = (re.escape(label) for pack in packs().values() for label in pack.reply_labels)
    return re.compile(rf"^\s*(?:{'|'.join(labels)})\s*:\s*", re.IGNORECASE)
