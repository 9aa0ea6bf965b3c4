"""FA: whether the evidence entails what a draft states."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from statistics import fmean

from core import sentences
from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.records import Sample
from models.entailment import Entailment, Pair


class Factuality(Metric):
    """F2RL's FA: the mean probability of entailment, over all pairs of a statement and a piece of evidence.

    With `best` the mean over statements of their best evidence, which a reply that needs one fact of three can reach.
    """

    def __init__(self, entailment: Entailment, judge: str, *, best: bool = False) -> None:
        """Take what judges entailment, and what it is called."""
        self._entailment, self._best = entailment, best
        self.card = MetricCard(
            name="fa_best" if best else "fa",
            label="FA (best evidence)" if best else "FA",
            source=f"F2RL (Wang et al. 2024), Eq. 3; statements are sentences, not triplets; entailment by {judge}",
            formula="mean over statements t of max over evidence e of P(e entails t)"
            if best
            else "mean over all pairs (e, t) of evidence and statements of P(e entails t)",
            lowest=0,
            highest=1,
            higher_is_better=True,
            blind_spot="Opinions and questions are statements to it, and no evidence entails them."
            + ("" if best else " A statement that one of three pieces of evidence backs gets a third."),
        )

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the factuality of each draft that has evidence."""
        return [await self._score(sample) for sample in samples]

    async def _score(self, sample: Sample) -> Value:
        statements = sentences.split(sample.text, sample.language)
        if not statements or not sample.evidence:
            return None
        pairs = [Pair(item.text, statement) for item, statement in product(sample.evidence, statements)]
        probabilities = await self._entailment.follows(pairs)
        if not self._best:
            return fmean(probabilities)
        by_statement = [probabilities[place :: len(statements)] for place in range(len(statements))]
        return fmean(max(column) for column in by_statement)
