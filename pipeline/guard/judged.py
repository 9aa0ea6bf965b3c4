"""The base of checks that ask a judge about sentences: about which, in what pieces, and what if it is away."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import lru_cache

from core.domain import Check, failed
from core.errors import ModelRefused, ModelUnavailable, TooSlow
from models.turns import Turns
from pipeline.guard.material import GuardContext, Material, Part
from pipeline.guard.on_file import Wording
from pipeline.guard.reward import RewardTerm
from pipeline.languages import packs

WINDOW = 500
"""Most characters that a judge reads at once; a longer sentence is judged in pieces, and the worst one counts."""
STEP = 400
"""Characters from the start of one piece to the next; pieces overlap, so that no phrase is cut in both."""
NOT_JUDGED = "Not judged: "
UNREAD = 0.5
"""The probability of what no reader could read, which stops nothing: `guard.min_grounded` is at most that."""
MEASURED = frozenset({"en", "es", "it", "eu"})
"""Languages in which the layers that read pairs of texts were trained and measured."""


class JudgedCheck(ABC):
    """A GuardCheck that asks a model about the sentences that are not on file.

    Each sentence needs a probability of at least `limit`. A reply that can't be judged fails, and the detail says why:
    the model does not read the language, is away, refuses, or does not answer within `within_s` seconds. A judge that
    asks the chat model takes one of its `turns`, and the seconds count from the start of that turn.
    """

    name: str
    hard = True
    costly = True
    reward: RewardTerm | None = None
    fault: str
    """The detail for a sentence that fails."""
    unread: str
    """The detail for a reply in a `{language}` that the model does not read."""

    def __init__(
        self, languages: frozenset[str] | None, limit: float, within_s: float, turns: Turns | None = None
    ) -> None:
        self._languages = languages
        self._limit = limit
        self._within_s = within_s
        self._turns = turns or Turns(None, None)

    @abstractmethod
    def asks_about(self, part: Part, reply: Material) -> bool:
        """Tell whether the model must judge this sentence, which is not on file."""

    @abstractmethod
    async def probabilities(self, pieces: Sequence[str], context: GuardContext) -> list[float]:
        """Return a probability, 0 to 1, for each piece of a sentence; raises ModelUnavailable or ModelRefused."""

    async def check_many(self, replies: Sequence[Material], context: GuardContext) -> list[Check]:
        """Return one result per reply; the sentences of all replies are judged together."""
        by_reply = [[part.text for part in judged_parts(reply) if self.asks_about(part, reply)] for reply in replies]
        pieces = tuple(dict.fromkeys(piece for texts in by_reply for text in texts for piece in windows(text)))
        known, obstacle = await self._ask(pieces, context) if pieces else ({}, "")
        results = zip(by_reply, replies, strict=True)
        return [self._result(texts, known, obstacle, reply) for texts, reply in results]

    async def _ask(self, pieces: Sequence[str], context: GuardContext) -> tuple[dict[str, float], str]:
        """Return the probability of each piece, or no probabilities and the reason."""
        if self._languages is not None and context.reply_language not in self._languages:
            return {}, self.unread.format(language=context.reply_language)
        try:
            async with self._turns.turn("the judge", self._within_s):
                answers = await self.probabilities(pieces, context)
        except TooSlow as error:
            return {}, f"{error} (guard.judge_timeout_s)."
        except (ModelUnavailable, ModelRefused) as error:
            return {}, str(error)
        if not all(map(math.isfinite, answers)):
            return {}, "the judge gave no number."
        return dict(zip(pieces, answers, strict=True)), ""

    def _result(self, sentences: Sequence[str], known: dict[str, float], obstacle: str, reply: Material) -> Check:
        if sentences and obstacle:
            return self._check(0.0, NOT_JUDGED + obstacle)
        judged = sorted((min(known[piece] for piece in windows(text)), text) for text in sentences)
        return self.verdict(judged, reply) if judged else self._check(1.0, "")

    def verdict(self, judged: Sequence[tuple[float, str]], reply: Material) -> Check:
        """Return a reply's result from the probabilities of its judged sentences: at least one, the worst first."""
        probability, worst = judged[0]
        return self._check(probability, "" if probability >= self._limit else f"{self.fault}: “{worst[:80]}”.")

    def _check(self, probability: float, detail: str, limit: float | None = None) -> Check:
        return Check(
            name=self.name,
            passed=not detail,
            value=round(probability, 3),
            threshold=self._limit if limit is None else limit,
            hard=True,
            detail=detail,
        )


def windows(text: str) -> list[str]:
    """Return the pieces in which a sentence is judged, each at most WINDOW characters and overlapping."""
    return [text[start : start + WINDOW] for start in range(0, max(1, len(text) - WINDOW + STEP), STEP)]


def unjudged(checks: Iterable[Check]) -> str:
    """Return why a reply could not be judged, in a sentence that begins with NOT_JUDGED; empty if it could."""
    return next((check.detail for check in failed(checks) if check.detail.startswith(NOT_JUDGED)), "")


def judged_parts(reply: Material) -> list[Part]:
    """Return the sentences that a judge must read: those that are neither on file nor a composer's template."""
    return [part for part in reply.parts if not part.quoted and Wording.of(part.text) not in _templates(reply.language)]


def reads_evidence(reply: Material) -> bool:
    """Tell whether sentences of the reply can be read together with its evidence: all of it is in their language."""
    languages = {statement.evidence.language for statement in reply.statements}
    return languages == {reply.language} and languages <= MEASURED


@lru_cache(maxsize=16)
def _templates(language: str) -> frozenset[Wording]:
    """Return every sentence that the composer may put beside a statement."""
    if language not in packs():
        return frozenset()
    entry = packs()[language]
    listed = [text for by_group in entry.templates.values() for texts in by_group.values() for text in texts]
    return frozenset(
        Wording.of(text.format(people=people, evidence="")) for text in listed for people in entry.people.values()
    )
