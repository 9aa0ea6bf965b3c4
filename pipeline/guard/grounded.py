"""Check that a reply says no more than its evidence, by reading its free sentences together with the evidence."""

from __future__ import annotations

from core.domain import Evidence
from pipeline.guard.entailed import EntailedCheck
from pipeline.guard.material import Material, Part
from pipeline.guard.pair_judge import MEASURED, evidence_text


class GroundedCheck(EntailedCheck):
    """A check that no free sentence, of whatever kind, states what the evidence does not bear out.

    It asks only where its model was measured: in its languages, with evidence in the reply's. Elsewhere, and without
    evidence, checks by words have to do.
    """

    name = "grounded"
    fault = "Says what its evidence does not"

    def asks_about(self, part: Part, reply: Material) -> bool:
        """Tell whether there is evidence to read the sentence with."""
        languages = {statement.evidence.language for statement in reply.statements}
        return languages == {reply.language} and languages <= MEASURED

    def premise(self, entry: Evidence) -> str:
        """Return evidence as the layers for pairs have learned to read it."""
        return evidence_text(entry.source, entry.text)
