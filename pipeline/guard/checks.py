"""The protocol of guard checks, and the checks that need nothing but words."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.domain import Check
from core.settings import GuardSettings
from pipeline.guard import form, harm, leak
from pipeline.guard.echo import no_echo
from pipeline.guard.material import GuardContext, Material
from pipeline.guard.measurement import Measurement
from pipeline.guard.names import names
from pipeline.guard.numbers import numbers
from pipeline.guard.repeat import not_repeated
from pipeline.guard.reward import BREVITY, EVIDENCE, MARGIN, RewardTerm
from pipeline.guard.stance import no_endorsement, takes_stance
from pipeline.guard.support import facts_supported, supported, uses_evidence
from pipeline.guard.wording import no_overclaim, no_swap

MeasureReply = Callable[[Material, GuardContext, GuardSettings], Measurement]


class GuardCheck(Protocol):
    """One question about replies. Safe to call from many tasks of one event loop, which it never blocks."""

    @property
    def name(self) -> str:
        """Return the name that all its results carry."""

    @property
    def hard(self) -> bool:
        """Tell whether a failure may keep a reply back; a single result may be softer than that, never harder."""

    @property
    def costly(self) -> bool:
        """Tell whether the check is expensive; if so, it sees only replies that can still pass."""

    @property
    def reward(self) -> RewardTerm | None:
        """Return what its results add to a reply's reward; None if they add nothing."""

    async def check_many(self, replies: Sequence[Material], context: GuardContext) -> list[Check]:
        """Return one result per reply, in order, for any text; `context` is the one that all were taken apart with."""


class OneByOne(ABC):
    """A GuardCheck that measures one reply after another, in a thread."""

    name: str
    hard: bool
    costly: bool
    reward: RewardTerm | None

    @abstractmethod
    def measure(self, reply: Material, context: GuardContext) -> Measurement:
        """Return the measurement of one reply, in the caller's thread."""

    def check(self, reply: Material, context: GuardContext) -> Check:
        """Return the result for one reply, in the caller's thread."""
        measured = self.measure(reply, context)
        return Check(
            name=self.name,
            passed=measured.passed,
            value=measured.value,
            threshold=measured.threshold,
            hard=self.hard and not measured.advisory,
            detail=measured.detail,
        )

    async def check_many(self, replies: Sequence[Material], context: GuardContext) -> list[Check]:
        """Return one result per reply, computed off the event loop."""
        return await asyncio.to_thread(lambda: [self.check(reply, context) for reply in replies])


@dataclass
class FunctionCheck(OneByOne):
    """A check made by one function of reply and context, which takes well under a millisecond."""

    name: str
    function: MeasureReply
    settings: GuardSettings
    hard: bool = True
    reward: RewardTerm | None = None
    costly: bool = False

    def measure(self, reply: Material, context: GuardContext) -> Measurement:
        """Return what the function measures."""
        return self.function(reply, context, self.settings)


def word_checks(settings: GuardSettings, *, judged: bool = False) -> tuple[FunctionCheck, ...]:
    """Return the checks that need no model, in the order moderators see them.

    With `judged`, a judge or a person reads the reply too: then words decide only about statements of fact and about
    what endorses the post. Otherwise they stop every sentence that they can't account for.
    """

    def check(
        name: str, function: MeasureReply, *, hard: bool = True, reward: RewardTerm | None = None
    ) -> FunctionCheck:
        return FunctionCheck(name, function, settings, hard, reward)

    return (
        check("not_empty", form.not_empty),
        check("length", form.length, reward=BREVITY),
        check("sentences", form.at_most_two_sentences),
        check("language", form.same_language),
        check("characters", form.plain_characters),
        check("mentions", form.no_mentions),
        check("links", form.no_links),
        check("markup", form.no_markup),
        check("refusal", leak.no_refusal),
        check("leak", leak.no_leak),
        check("echo", no_echo, reward=MARGIN),
        check("stance", no_endorsement if judged else takes_stance),
        check("numbers", numbers),
        check("names", names),
        check("supported", facts_supported if judged else supported),
        check("overclaim", no_overclaim),
        check("swap", no_swap),
        check("insult", harm.no_insult),
        check("repeat", not_repeated, reward=MARGIN),
        check("evidence", uses_evidence, hard=False, reward=EVIDENCE),
    )
