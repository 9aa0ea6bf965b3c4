"""What a strategy is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from core.domain import DraftRequest, FlaggedPost, Origin, Plan, Triage
from pipeline.guard import GuardContext
from pipeline.languages import packs


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


class Strategy(Protocol):
    """A way to come to replies. Safe to call from many tasks of one event loop.

    A method that asks a model may raise ModelUnavailable (the model is away; later it may work) and ModelRefused (it
    will not work later either), and nothing else. One that asks none raises neither, and decides the same for the same
    case. What a strategy asks models for is true of its kind, whether a model is at hand or not.
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

    async def propose(self, context: GuardContext, plan: Plan, request: DraftRequest) -> list[tuple[Proposal, ...]]:
        """Return replies to be judged, in rounds: a later one counts only where no reply of those before it passes.

        There may be none, as without evidence. The texts are tidy, those of a round differ, and their number has a
        bound. `plan` is empty, or another strategy's, for a case that was not planned by this one.
        """


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
