"""Check, with a model that reads both, that a reply's statements of fact follow from its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain import Evidence
from models.entailment import Entailment, Pair
from models.turns import Turns
from pipeline.guard.judged import JudgedCheck
from pipeline.guard.material import GuardContext, Material, Part
from pipeline.guard.support import is_statement


class EntailedCheck(JudgedCheck):
    """A check that each statement of fact follows from one piece of evidence, according to an entailment model."""

    name = "entailed"
    fault = "Does not follow from the evidence"
    unread = "the entailment model does not read “{language}”; set guard.entailment_model to one that does."

    def __init__(self, model: Entailment, limit: float, within_s: float, turns: Turns | None = None) -> None:
        super().__init__(model.languages, limit, within_s, turns)
        self._model = model

    def asks_about(self, part: Part, reply: Material) -> bool:
        """Tell whether a sentence is a statement of fact."""
        return is_statement(part, reply)

    def premise(self, entry: Evidence) -> str:
        """Return a piece of evidence as the model reads it, with its source in front."""
        return f"{entry.source.institution}, {entry.source.title}: {entry.text}"

    async def probabilities(self, pieces: Sequence[str], context: GuardContext) -> list[float]:
        """Return for each piece the probability with which the best piece of evidence entails it."""
        premises = [self.premise(entry) for entry in context.evidence]
        if not premises:
            return [0.0] * len(pieces)
        language = context.reply_language
        pairs = [Pair(premise, piece, language) for piece in pieces for premise in premises]
        answers = await self._model.follows(pairs)
        rows = (answers[start : start + len(premises)] for start in range(0, len(answers), len(premises)))
        return [max(row) for row in rows]
