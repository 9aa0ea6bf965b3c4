"""Length and truncation: how many words drafts have, and how many drafts break off."""

from __future__ import annotations

from collections.abc import Sequence

from core import sentences
from evaluation.metrics.metric import Metric, MetricCard, Value
from evaluation.metrics.tokens import words
from evaluation.records import Sample


class Length(Metric):
    """The number of words in a draft."""

    card = MetricCard(
        name="length",
        label="Words",
        source="Genlen of the shared task on multilingual counterspeech (2025)",
        formula="number of words",
        lowest=0,
        highest=None,
        higher_is_better=None,
        blind_spot="Languages differ: Basque says in one word what English says in three.",
    )

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return the number of words of each draft that is not empty."""
        return [float(len(words(sample.text))) if sample.text else None for sample in samples]


class Truncated(Metric):
    """Whether a draft breaks off in the middle of a sentence."""

    card = MetricCard(
        name="truncated",
        label="Truncated",
        source="ours",
        formula="1 where the text does not end in . ? ! or …, else 0",
        lowest=0,
        highest=1,
        higher_is_better=False,
        blind_spot="A reply cut at the end of a sentence looks whole.",
    )

    async def score(self, samples: Sequence[Sample]) -> list[Value]:
        """Return 1 for each draft that breaks off, 0 for the others."""
        return [float(not sentences.is_complete(sample.text)) if sample.text else None for sample in samples]
