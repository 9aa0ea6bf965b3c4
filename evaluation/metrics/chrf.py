"""chrF: the character n-grams that a draft shares with references."""

from __future__ import annotations

from collections.abc import Sequence

from sacrebleu.metrics.chrf import CHRF

from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.records import Sample


class ChrF(Metric):
    """chrF of a draft against its nearest reference, by sacrebleu."""

    card = MetricCard(
        name="chrf",
        label="chrF",
        source="Popović 2015, by sacrebleu: character n-grams up to 6, beta 2",
        formula="(1 + b²) * P * R / (b² * P + R); P and R: mean precision and recall of character n-grams, b = 2",
        lowest=0,
        highest=1,
        higher_is_better=True,
        blind_spot="As BLEU, but kinder to inflected languages such as Basque; two unrelated texts of one language "
        "share about 0.2.",
        by_references=True,
    )

    def __init__(self) -> None:
        self._chrf = CHRF()

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the chrF of each draft."""
        return [
            self._chrf.sentence_score(sample.text, list(sample.references)).score / 100
            if sample.text and sample.references
            else None
            for sample in samples
        ]
