"""Check that what a reply states as fact follows from its evidence, by a model that reads both."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain import Check
from models.entailment import Entailment, Pair
from pipeline.guard.material import GuardContext, Material
from pipeline.guard.opposition import judged_parts
from pipeline.guard.reward import RewardTerm
from pipeline.guard.support import is_statement


class EntailedCheck:
    """A check that each statement of fact follows from one piece of evidence; `limit` is the least probability.

    A statement in a language that the model does not read fails: what none can judge is not shown.
    """

    name = "entailed"
    hard = True
    costly = True
    reward: RewardTerm | None = None

    def __init__(self, model: Entailment, limit: float) -> None:
        self._model = model
        self._limit = limit

    async def check_many(self, replies: Sequence[Material], context: GuardContext) -> list[Check]:
        """Return one result a reply; all statements are judged together."""
        told = [[part.text for part in judged_parts(reply) if is_statement(part, reply)] for reply in replies]
        pairs = [
            Pair(f"{evidence.source.institution}, {evidence.source.title}: {evidence.text}", text)
            for text in dict.fromkeys(text for texts in told for text in texts)
            for evidence in context.evidence
        ]
        if pairs and self._model.languages is not None and context.reply_language not in self._model.languages:
            return [self._unknown(context.reply_language) if texts else self._result(1.0, "") for texts in told]
        probabilities = await self._model.follows(pairs) if pairs else []
        best: dict[str, float] = {}
        for pair, probability in zip(pairs, probabilities, strict=True):
            best[pair.hypothesis] = max(best.get(pair.hypothesis, 0.0), probability)
        lowest = (min(((best.get(text, 0.0), text) for text in texts), default=(1.0, "")) for texts in told)
        return [self._result(*worst) for worst in lowest]

    def _result(self, probability: float, sentence: str) -> Check:
        passed = probability >= self._limit
        detail = "" if passed else f"Does not follow from the evidence: “{sentence[:80]}”."
        return Check(
            name=self.name, passed=passed, value=round(probability, 3), threshold=self._limit, hard=True, detail=detail
        )

    def _unknown(self, language: str) -> Check:
        detail = f"The entailment model does not read “{language}”; set guard.entailment_model to one that does."
        return Check(name=self.name, passed=False, value=0, threshold=self._limit, hard=True, detail=detail)
