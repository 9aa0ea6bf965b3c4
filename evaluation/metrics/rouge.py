"""ROUGE-L: the longest common subsequence of a draft and a reference."""

from __future__ import annotations

from collections.abc import Sequence

from rouge_score.rouge_scorer import RougeScorer

from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.metrics.tokens import words
from evaluation.records import Sample


class _Words:
    """A tokeniser for rouge-score, whose own one knows only ASCII letters."""

    def tokenize(self, text: str) -> list[str]:
        return words(text)


class RougeL(Metric):
    """The F1 of the longest common subsequence with the best reference, by rouge-score."""

    card = MetricCard(
        name="rouge_l",
        label="ROUGE-L",
        source="Lin 2004, by rouge-score; words in any script, no stemming",
        formula="2PR / (P + R); P = LCS / words of the draft, R = LCS / words of the reference; the best reference",
        lowest=0,
        highest=1,
        higher_is_better=True,
        blind_spot="Word order and wording, not meaning: a reply that says the opposite in the same words scores high.",
        by_references=True,
    )

    def __init__(self) -> None:
        self._scorer = RougeScorer(["rougeL"], tokenizer=_Words())

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the ROUGE-L of each draft."""
        return [
            float(self._scorer.score_multi(sample.references, sample.text)["rougeL"].fmeasure)
            if sample.text and sample.references
            else None
            for sample in samples
        ]
