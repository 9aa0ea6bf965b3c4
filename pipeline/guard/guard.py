"""Run all checks on replies, the cheap ones first."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import Check, failed
from pipeline.guard.checks import GuardCheck, OneByOne
from pipeline.guard.material import LONGEST_READ, GuardContext, Material, material
from pipeline.guard.reward import RELEVANCE_WEIGHT, relevance
from pipeline.guard.weighing import Weighing, firm_failures


@dataclass(frozen=True)
class Verdict:
    """The guard's verdict on one reply: the result of each check that saw it, and its reward, 0 to 1."""

    checks: tuple[Check, ...]
    reward: float

    @property
    def passes(self) -> bool:
        """Tell whether every hard check passed."""
        return not failed(self.checks)


class Guard:
    """The judge of replies: of drafts before anybody sees them, and of texts that a moderator has edited.

    Cheap checks see every reply; a costly one sees only those that have failed no hard check before it. With a
    `weighing`, failures that it may outweigh don't count there, and it has the last word.
    """

    def __init__(self, checks: Sequence[GuardCheck], weighing: Weighing | None = None) -> None:
        self._weighing = weighing
        self.cheap = tuple(check for check in checks if not check.costly)
        self.costly = tuple(check for check in checks if check.costly)

    async def check(self, text: str, context: GuardContext) -> tuple[Check, ...]:
        """Return the checks' results for one text of any length: cheap ones first, each kind in its given order."""
        (verdict,) = await self.judge([text], context)
        return verdict.checks

    async def judge(self, texts: Sequence[str], context: GuardContext) -> list[Verdict]:
        """Return a verdict on each text, in their order; a text longer than LONGEST_READ fails unread."""
        read = [text for text in texts if len(text) <= LONGEST_READ]
        verdicts = iter(await self._judge(read, context))
        return [next(verdicts) if len(text) <= LONGEST_READ else _too_long(text) for text in texts]

    async def _judge(self, texts: Sequence[str], context: GuardContext) -> list[Verdict]:
        replies, verdicts, measured = await asyncio.to_thread(self._begin, texts, context)
        others = [check for check, results in zip(self.cheap, measured, strict=True) if results is None]
        waited_for = iter(await asyncio.gather(*(check.check_many(replies, context) for check in others)))
        for check, results in zip(self.cheap, measured, strict=True):
            _add(check, next(waited_for) if results is None else results, verdicts, range(len(verdicts)))
        for check in self.costly:
            survivors = [place for place, verdict in enumerate(verdicts) if self._may_pass(verdict, replies[place])]
            results = await check.check_many([replies[place] for place in survivors], context)
            _add(check, results, verdicts, survivors)
        judged = zip(verdicts, replies, strict=True)
        return [Verdict(self._weighed(verdict.checks, reply), round(verdict.reward, 4)) for verdict, reply in judged]

    def _may_pass(self, verdict: Verdict, reply: Material) -> bool:
        """Tell whether the reply can still pass, whatever was found so far."""
        if self._weighing is None or not self._weighing.may_weigh(reply):
            return verdict.passes
        return not firm_failures(verdict.checks)

    def _weighed(self, checks: tuple[Check, ...], reply: Material) -> tuple[Check, ...]:
        return self._weighing.weigh(checks, reply) if self._weighing else checks

    def _begin(
        self, texts: Sequence[str], context: GuardContext
    ) -> tuple[list[Material], list[Verdict], list[list[Check] | None]]:
        """Take the texts apart and run the checks that need no awaiting, all in the caller's thread.

        Returns the replies, their verdicts so far, and the results of the cheap checks in their order, None for a check
        that must be awaited. The verdicts have no checks yet, and only a text's relevance to the post as its reward.
        """
        replies = [material(text, context) for text in texts]
        verdicts = [Verdict((), RELEVANCE_WEIGHT * relevance(reply, context)) for reply in replies]
        results = [
            [check.check(reply, context) for reply in replies] if isinstance(check, OneByOne) else None
            for check in self.cheap
        ]
        return replies, verdicts, results


def _too_long(text: str) -> Verdict:
    detail = f"{len(text)} characters; no reply of more than {LONGEST_READ} is read."
    length = Check(name="length", passed=False, value=len(text), threshold=LONGEST_READ, hard=True, detail=detail)
    return Verdict((length,), 0.0)


def _add(check: GuardCheck, results: Sequence[Check], verdicts: list[Verdict], places: Sequence[int]) -> None:
    """Add a check's results to the verdicts at `places`."""
    for place, result in zip(places, results, strict=True):
        gain = check.reward.weight * check.reward.merit(result) if check.reward else 0.0
        verdicts[place] = Verdict((*verdicts[place].checks, result), verdicts[place].reward + gain)
