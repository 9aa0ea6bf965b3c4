"""BLEU-4: the n-grams that a draft shares with references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sacrebleu.metrics.bleu import BLEU

from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.records import Sample


class Bleu(Metric):
    """Sentence BLEU of a draft, corpus BLEU of a system, by sacrebleu."""

    card = MetricCard(
        name="bleu",
        label="BLEU",
        source="Papineni et al. 2002, by sacrebleu (Post 2018): tokeniser 13a, smoothing exp, lower case",
        formula="BP * exp(mean over n = 1..4 of log p_n); p_n: clipped share of the draft's n-grams in the references",
        lowest=0,
        highest=1,
        higher_is_better=True,
        blind_spot="Good counterspeech has many wordings and few references, so that a good draft may share nothing "
        "with them; the papers' systems stay below 0.02.",
        by_references=True,
    )

    def __init__(self) -> None:
        self._sentence = BLEU(lowercase=True, effective_order=True)
        self._corpus = BLEU(lowercase=True)

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the BLEU of each draft against all its references."""
        return [
            self._sentence.sentence_score(sample.text, list(sample.references)).score / 100
            if sample.text and sample.references
            else None
            for sample in samples
        ]

    def of_system(self, samples: Sequence[Sample], values: Sequence[Value]) -> Value:
        """Return the corpus BLEU of the drafts that have references."""
        compared = [sample for sample in samples if sample.text and sample.references]
        if not compared:
            return None
        most = max(len(sample.references) for sample in compared)
        # sacrebleu wants columns of equal length; None fills in for drafts with fewer references.
        columns: list[list[Any]] = [
            [sample.references[place] if place < len(sample.references) else None for sample in compared]
            for place in range(most)
        ]
        return float(self._corpus.corpus_score([sample.text for sample in compared], columns).score / 100)
