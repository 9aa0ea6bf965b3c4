"""FA: how far the evidence entails what a draft states."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import product
from statistics import fmean

from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.metrics.triplets import TripletExtractor
from evaluation.records import Sample
from models.entailment import Entailment, Pair

MOST_KEPT = 512


class Support:
    """The probability that each piece of a draft's evidence entails each of its triplets, cached across metrics."""

    def __init__(self, extractor: TripletExtractor, entailment: Entailment, judge: str) -> None:
        """Take the extractor of triplets, the judge of entailment, and the judge's name."""
        self.by = f"triplets by {extractor.name}; entailment by {judge}"
        self._extractor, self._entailment = extractor, entailment
        self._known: OrderedDict[Sample, list[list[float]]] = OrderedDict()

    async def of(self, sample: Sample) -> list[list[float]]:
        """Return a row per triplet with a probability per piece of evidence; no rows without triplets or evidence."""
        if sample not in self._known:
            self._known[sample] = await self._ask(sample)
            while len(self._known) > MOST_KEPT:
                self._known.popitem(last=False)
        return self._known[sample]

    async def _ask(self, sample: Sample) -> list[list[float]]:
        if not sample.text or not sample.evidence:
            return []
        triplets = await self._extractor.triplets(sample.text, sample.language)
        pairs = [Pair(item.text, triplet.statement) for triplet, item in product(triplets, sample.evidence)]
        probabilities = await self._entailment.follows(pairs)
        width = len(sample.evidence)
        return [probabilities[start : start + width] for start in range(0, len(probabilities), width)]


class Factuality(Metric):
    """F2RL's FA: the mean probability of entailment over all pairs of a triplet and a piece of evidence.

    With `best`, each triplet counts with its best evidence alone, so that a reply that uses one fact of three can
    still score 1.
    """

    def __init__(self, support: Support, *, best: bool = False) -> None:
        """Take the source of entailment probabilities, and whether to count only each triplet's best evidence."""
        self._support, self._best = support, best
        self.card = MetricCard(
            name="fa_best" if best else "fa",
            label="FA (best evidence)" if best else "FA",
            source=f"F2RL (Wang et al. 2024), Eq. 3{', with the best evidence instead of all' if best else ''}",
            formula="mean over triplets t of max over evidence e of P(e entails t)"
            if best
            else "mean over all pairs (e, t) of evidence and triplets of P(e entails t)",
            lowest=0,
            highest=1,
            higher_is_better=True,
            blind_spot="A draft that states nothing has none, and a sentence of opinion that is taken for a statement "
            "loses." + ("" if best else " A statement that one of three pieces of evidence backs gets a third."),
            by=support.by,
        )

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the factuality of each draft that states something and has evidence."""
        return [self._value(await self._support.of(sample)) for sample in samples]

    def _value(self, rows: Sequence[Sequence[float]]) -> Value:
        if not rows:
            return None
        return fmean(max(row) if self._best else fmean(row) for row in rows)
