"""Check that a reply says no more than its evidence, by reading its free sentences together with the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain import Check, Evidence
from pipeline.guard.entailed import EntailedCheck
from pipeline.guard.judged import reads_evidence
from pipeline.guard.material import Material, Part
from pipeline.guard.opposition import NOWHERE
from pipeline.guard.pair_judge import PairEntailment, evidence_text


class GroundedCheck(EntailedCheck):
    """A check that no free sentence, of whatever kind, states what the evidence does not bear out.

    It asks only where its model was measured: in its languages, with evidence in the reply's. Elsewhere, and without
    evidence, checks by words have to do.
    """

    name = "grounded"
    fault = "Says what its evidence does not"

    def __init__(
        self, model: PairEntailment, limit: float, within_s: float, limit_in: Mapping[str, float] = NOWHERE
    ) -> None:
        """Take the least probability for each sentence, and what it is instead in some languages."""
        super().__init__(model, limit, within_s)
        self._limit_in = limit_in

    def asks_about(self, part: Part, reply: Material) -> bool:
        """Tell whether there is evidence to read the sentence with."""
        return reads_evidence(reply)

    def verdict(self, judged: Sequence[tuple[float, str]], reply: Material) -> Check:
        """Return the result by the worst sentence, held to the limit for the reply's language."""
        probability, worst = judged[0]
        limit = self._limit_in.get(reply.language, self._limit)
        return self._check(probability, "" if probability >= limit else f"{self.fault}: “{worst[:80]}”.", limit)

    def premise(self, entry: Evidence) -> str:
        """Return evidence as the layers for pairs have learned to read it."""
        return evidence_text(entry.source, entry.text)
