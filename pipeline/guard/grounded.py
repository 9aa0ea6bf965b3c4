"""Check that a reply says no more than its evidence, by reading its free sentences together with the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.domain import Check, Evidence
from models.turns import Turns
from pipeline.guard.checks import FunctionCheck, GuardCheck
from pipeline.guard.doubts import DOUBTFUL
from pipeline.guard.entailed import EntailedCheck
from pipeline.guard.judged import judged_parts
from pipeline.guard.material import GuardContext, Material, Part
from pipeline.guard.pair_judge import MEASURED, PairEntailment, evidence_text


class GroundedCheck(EntailedCheck):
    """A check that no free sentence, of whatever kind, states what the evidence does not bear out.

    Where there is no evidence, checks by words have to do.
    """

    name = "grounded"
    fault = "Says what its evidence does not"

    def __init__(self, model: PairEntailment, limit: float, within_s: float, turns: Turns | None = None) -> None:
        super().__init__(model, limit, within_s, turns)

    def asks_about(self, part: Part, reply: Material) -> bool:
        """Tell whether there is evidence to read the sentence with."""
        return bool(reply.statements)

    def premise(self, entry: Evidence) -> str:
        """Return evidence as the layers for pairs have learned to read it."""
        return evidence_text(entry.source, entry.text)


class SecondLook:
    """A check by words whose doubts a reader of evidence may lift.

    The reader looks at replies that the words object to. If it is sure of each free sentence, the result becomes advice
    and keeps its detail. It looks only where it was measured: in its languages, with evidence in the same one. Words
    that are turned into their opposite (a value of 0) stay a fault.
    """

    costly = False
    hard = True

    def __init__(self, words: FunctionCheck, reader: GroundedCheck) -> None:
        """Combine a check by words with a reader, whose limit is what makes it sure."""
        self.name = words.name
        self.reward = words.reward
        self._words = words
        self._reader = reader

    async def check_many(self, replies: Sequence[Material], context: GuardContext) -> list[Check]:
        """Return the words' results, those that the reader lifts as advice."""
        results = await self._words.check_many(replies, context)
        places = [
            place for place, (result, reply) in enumerate(zip(results, replies, strict=True))
            if not result.passed and self._may_look(result, reply, context)
        ]  # fmt: skip
        looks = await self._reader.check_many([replies[place] for place in places], context) if places else []
        for place, look in zip(places, looks, strict=True):
            if look.passed:
                results[place] = results[place].model_copy(update={"hard": False})
        return results

    def _may_look(self, doubt: Check, reply: Material, context: GuardContext) -> bool:
        languages = {context.reply_language, *(entry.language for entry in context.evidence)}
        turned_round = doubt.name == "supported" and doubt.value == 0
        reads = any(self._reader.asks_about(part, reply) for part in judged_parts(reply))
        return reads and len(languages) == 1 and languages <= MEASURED and not turned_round


def with_second_look(checks: Iterable[FunctionCheck], reader: GroundedCheck | None) -> list[GuardCheck]:
    """Return the checks by words, those in DOUBTFUL with a second look by `reader`, if there is one."""
    return [SecondLook(check, reader) if reader and check.name in DOUBTFUL else check for check in checks]
